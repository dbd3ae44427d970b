/** The length of a reported text: how much of it is kept, and that it says so. */
import { describe, expect, test } from 'vitest';
import {
  bodyOf,
  isBlank,
  isCut,
  REPORT_LIMIT,
  type Report,
  TEXT_LIMIT,
  TRUNCATED,
} from '../../../plugin/hooks/protocol/mod-answer.js';

const SESSION = 'w0123456789abcdefghij';

/** Numbers from 0 to 1, the same at each run. */
function drawn(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const ALPHABETS: readonly (readonly string[])[] = [
  ['a', 'Z', ' ', '"', '\\', '/', '\n'],
  ['\u0000', '\u0001', '\u001f', '\t', '\u007f', '\u0085'],
  ['語', '漢', '한', '\u2028', '\ufeff', '\uffff'],
  ['😀', '👩‍👩‍👧', '🇦🇹', '\u{10ffff}'],
  ['é', 'ж', '\u00ff', '\u07ff'],
  ['\ud800', '\udbff', '\udc00', '\udfff'],
];

function textOf(draw: () => number, units: number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
  // Some texts are of one kind alone: it is they that come near a limit.
  const own = draw() < 0.5 ? ALPHABETS.flat() : pick(ALPHABETS);
  let text = '';
  while (text.length < units) text += pick(own).repeat(1 + Math.floor(draw() * 4));
  return text;
}

/** Holds the body of a report to the rule; what was kept of its text. */
function checked(text: string, session = SESSION): { readonly kept: string; readonly wasCut: boolean } {
  const body = bodyOf({ session_id: session, text });
  const report = JSON.parse(body) as Report & { readonly text: string };
  const isWhole = report.text === text;
  const kept = isWhole ? text : report.text.slice(0, -TRUNCATED.length);
  const problems = [
    Buffer.byteLength(body) >= REPORT_LIMIT && 'the body is too large',
    report.session_id !== session && 'the session is another one',
    kept.length > TEXT_LIMIT && 'too much is kept',
    !text.startsWith(kept) && 'what is kept is not its beginning',
    !isWhole && !report.text.endsWith(TRUNCATED) && 'nothing says that it was cut',
    isCut(report) === isWhole && 'isCut says otherwise',
    !isWhole && splitsPair(text, kept.length) && 'half a pair is left',
    !isWhole && wouldFit(text, kept, session) && 'more would have fitted',
  ].filter((problem) => problem !== false);
  if (problems.length > 0) throw new Error(`${problems.join(', ')}: ${JSON.stringify(text).slice(0, 200)}`);
  return { kept, wasCut: !isWhole };
}

function splitsPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}

/** Whether the text, or one character more of it, is within both limits. */
function wouldFit(text: string, kept: string, session: string): boolean {
  const more = kept + String.fromCodePoint(text.codePointAt(kept.length) ?? 0);
  const fits = (longer: string) =>
    Buffer.byteLength(JSON.stringify({ session_id: session, text: longer })) < REPORT_LIMIT;
  return (more.length <= TEXT_LIMIT && fits(more + TRUNCATED)) || (text.length <= TEXT_LIMIT && fits(text));
}

describe('rule.textIsCut', () => {
  test('holds for 20,000 texts, in under two seconds of work', () => {
    const draw = drawn(20_261_130);
    const began = process.cpuUsage();
    let cuts = 0;
    for (let at = 0; at < 20_000; at += 1) {
      const isLong = at % 400 === 0;
      const units = isLong ? 9_000 + Math.floor(draw() * 9_000) : Math.floor(draw() * 60);
      if (checked(textOf(draw, units)).wasCut) cuts += 1;
    }
    expect(cuts).toBeGreaterThan(10);
    expect(cuts).toBeLessThan(50);
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(2_000);
  });

  test('holds at every length around each limit, for each kind of character', () => {
    for (const alphabet of ALPHABETS) {
      for (const character of alphabet.slice(0, 2)) {
        const bytes = Buffer.byteLength(JSON.stringify(character)) - 2;
        const envelope = Buffer.byteLength(JSON.stringify({ session_id: SESSION, text: '' }));
        for (const limit of [TEXT_LIMIT / character.length, (REPORT_LIMIT - envelope) / bytes]) {
          for (const off of [-1, 0, 1]) {
            for (const before of ['', 'x']) checked(before + character.repeat(Math.floor(limit) + off));
          }
        }
      }
    }
  });

  test('16,000 units are whole and 16,001 are not', () => {
    expect(checked('x'.repeat(16_000)).wasCut).toBe(false);
    expect(checked('x'.repeat(16_001)).kept).toBe('x'.repeat(16_000));
  });

  test('a pair across the limit goes whole', () => {
    expect(checked(`${'x'.repeat(15_999)}😀`).kept).toBe('x'.repeat(15_999));
    expect(checked(`${'x'.repeat(15_998)}😀!`).kept).toBe(`${'x'.repeat(15_998)}😀`);
  });

  test('halves of pairs that are none are cut anywhere', () => {
    expect(checked(`${'x'.repeat(15_999)}\ud800\ud800\udc00`).kept).toBe(`${'x'.repeat(15_999)}\ud800`);
    expect(checked('\udc00\ud800'.repeat(9_000)).wasCut).toBe(true);
  });

  test('a text that ends with the mark was not cut, unless more of it would not have fitted', () => {
    const isCutText = (text: string) => isCut({ session_id: SESSION, text });
    expect(isCutText(TRUNCATED)).toBe(false);
    expect(isCutText(`see the log${TRUNCATED}`)).toBe(false);
    expect(isCutText(`${'x'.repeat(15_998)}${TRUNCATED}`)).toBe(false);
    expect(isCutText(`${'x'.repeat(15_999)}${TRUNCATED}`)).toBe(true);
    expect(isCutText(`${'x'.repeat(16_000)}[truncated]`)).toBe(false);
    expect(isCut({ session_id: SESSION, unanswered: 'blank' })).toBe(false);
  });

  test('a session with a long name keeps less of its text, in a body that is no larger', () => {
    expect(checked('x'.repeat(9_000), 'w'.repeat(60_000)).wasCut).toBe(true);
  });

  test('a report without a text is as it is', () => {
    expect(bodyOf({ session_id: 'w1', unanswered: 'blank' })).toBe('{"session_id":"w1","unanswered":"blank"}');
  });
});

describe('rule.blankSaysUnanswered: what is blank', () => {
  test('white space of every kind, and nothing else', () => {
    for (const blank of [
      '',
      ' ',
      '\r\n\t\v\f',
      '\u0085',
      '\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
    ]) {
      expect(isBlank(blank), JSON.stringify(blank)).toBe(true);
    }
    for (const text of ['.', ' 0 ', '\u0000', '\u200b', '\u180e', '\u001c', '\u2060', '\ud800']) {
      expect(isBlank(text), JSON.stringify(text)).toBe(false);
    }
  });
});
