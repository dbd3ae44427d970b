/** Who is a worker, and where it reports. */
import { describe, expect, test } from 'vitest';
import { linkOf, type WorkerVariables } from '../../../plugin/hooks/worker/link.js';

const WORKER: WorkerVariables = {
  LICH_PORT: '4711',
  LICH_TOKEN: 't',
  LICH_SESSION_ID: 'w1',
  LICH_SUBAGENT_DEPTH: '1',
  LICH_SUBAGENT_CARDS: undefined,
};
const linkWith = (changes: Partial<WorkerVariables>) => linkOf({ ...WORKER, ...changes });
const LINK = { port: 4711, token: 't', session: 'w1' };

describe('rule.onlyAWorkerAnswers', () => {
  test.each(['1', '2', '01', '12', '900000'])('depth %j is a worker’s', (depth) => {
    expect(linkWith({ LICH_SUBAGENT_DEPTH: depth })).toEqual(LINK);
  });

  const NO_DEPTHS = ['0', '00', '-0', '-1', '+1', '1.5', '1.0', '', ' ', ' 1', '1 ', '1\n', 'abc', '1a', '0x1', '1e3'];
  test.each([...NO_DEPTHS, 'Infinity', 'NaN', 'true', 'off', '１', '١'])(
    'depth %j is none, whatever its cards',
    (depth) => {
      for (const cards of [undefined, 'off', 'on']) {
        expect(linkWith({ LICH_SUBAGENT_DEPTH: depth, LICH_SUBAGENT_CARDS: cards })).toBe(undefined);
      }
    },
  );

  test('without a depth, cards that are off say it, and nothing else does', () => {
    const linkOfCards = (LICH_SUBAGENT_CARDS: string | undefined) =>
      linkWith({ LICH_SUBAGENT_DEPTH: undefined, LICH_SUBAGENT_CARDS });
    expect(linkOfCards('off')).toEqual(LINK);
    for (const cards of [undefined, 'on', '', 'OFF', 'off ', '0', 'false']) expect(linkOfCards(cards)).toBe(undefined);
  });

  test.each(['1', '80', '65535', '04711'])('port %j is one', (port) => {
    expect(linkWith({ LICH_PORT: port })?.port).toBe(Number(port));
  });

  const NO_PORTS = [
    undefined,
    '',
    ' ',
    '0',
    '-1',
    '65536',
    '99999999999999999999',
    '80.5',
    '8e1',
    '0x50',
    ' 80',
    '80 ',
  ];
  test.each([...NO_PORTS, 'http', '80/../81', '@evil:80'])('port %j is none', (port) => {
    expect(linkWith({ LICH_PORT: port })).toBe(undefined);
  });

  test('without a token or a session there is no worker', () => {
    for (const nothing of [undefined, '']) {
      expect(linkWith({ LICH_TOKEN: nothing })).toBe(undefined);
      expect(linkWith({ LICH_SESSION_ID: nothing })).toBe(undefined);
    }
  });

  test('token and session are taken as they are', () => {
    expect(linkWith({ LICH_TOKEN: ' &=?\n', LICH_SESSION_ID: ' ' })).toEqual({
      port: 4711,
      token: ' &=?\n',
      session: ' ',
    });
  });
});
