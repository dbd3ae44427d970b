import { describe, expect, test } from 'claude-code/testing';
import { ERRAND_VARIABLE, TASK_PATH, WAITING_LIMIT, WAITING_PATH } from '../hooks/protocol/errand.js';
import { VERSION } from '../hooks/protocol/version.js';
import { AGENT, run } from './engine.js';
import { HARD_TEXTS } from './texts.js';
import {
  begin,
  complete,
  deskWith,
  ERRAND,
  enter,
  type Reply,
  stop,
  submit,
  turn,
  WORKER,
  worker,
} from './worker-engine.js';

const URL_START = 'http://127.0.0.1:4711';
const QUERY = 'token=to%2Fk%2Bn%20%26%3D%3F';
const answered = (text: string) => JSON.stringify({ session_id: 'w1', text });
const BLANK = '{"session_id":"w1","unanswered":"blank"}';

describe('rule.onlyAWorkerAnswers', () => {
  const WITHOUT_DEPTH = { ...WORKER, LICH_SUBAGENT_DEPTH: undefined };

  const WORKERS = {
    'depth 1': WORKER,
    'depth 12, though its cards are on': { ...WORKER, LICH_SUBAGENT_DEPTH: '12', LICH_SUBAGENT_CARDS: 'on' },
    'no depth, and cards that are off': { ...WITHOUT_DEPTH, LICH_SUBAGENT_CARDS: 'off' },
  };
  for (const [name, env] of Object.entries(WORKERS)) {
    test(`a session with ${name} reports its turn`, async ($, on) => {
      const made = worker(on, { env });
      await begin($);
      await turn($, 'done');
      await made.settled();
      expect(made.reports).toEqual([answered('done')]);
    });
  }

  const OTHERS = {
    'no variable at all': {},
    'depth 0': { ...WORKER, LICH_SUBAGENT_DEPTH: '0' },
    'depth 0, though its cards are off': { ...WORKER, LICH_SUBAGENT_DEPTH: '0', LICH_SUBAGENT_CARDS: 'off' },
    'neither depth nor cards': WITHOUT_DEPTH,
    'no depth, and cards that are on': { ...WITHOUT_DEPTH, LICH_SUBAGENT_CARDS: 'on' },
    ...Object.fromEntries(
      ['abc', '-1', '1.5', '', ' 1', '1 ', '+1', '0x1', '1e3', '１'].map((depth) => [
        `depth ${JSON.stringify(depth)}`,
        { ...WORKER, LICH_SUBAGENT_DEPTH: depth, LICH_SUBAGENT_CARDS: 'off' },
      ]),
    ),
    'no port': { ...WORKER, LICH_PORT: undefined },
    'an empty token': { ...WORKER, LICH_TOKEN: '' },
    'no token': { ...WORKER, LICH_TOKEN: undefined },
    'an empty session': { ...WORKER, LICH_SESSION_ID: '' },
    'no session': { ...WORKER, LICH_SESSION_ID: undefined },
  };
  for (const [name, env] of Object.entries(OTHERS)) {
    test(`a session with ${name} reports nothing`, async ($, on) => {
      const made = worker(on, { env: { ...env, [ERRAND_VARIABLE]: ERRAND[ERRAND_VARIABLE] } });
      await begin($);
      await turn($, 'done');
      await stop($, undefined);
      await complete($, '');
      await made.settled();
      expect(made.sent).toEqual([]);
    });
  }

  test('a session that is not interactive reports nothing and asks for no task, whatever its environment', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: deskWith('the task') });
    await begin($, false);
    await turn($, 'done');
    await made.settled();
    expect(made.sent).toEqual([]);
    expect(made.submitted).toEqual([]);
  });
});

describe('the request', () => {
  test('is one POST with the token in its query, two headers and two keys', async ($, on) => {
    const made = worker(on);
    await begin($);
    await turn($, 'Rewrote it; "the tests" pass.\n\u0000 语 😀');
    await made.settled();
    expect(made.sent).toEqual([
      {
        url: `${URL_START}/mod/answer?${QUERY}`,
        path: '/mod/answer',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-lich-plugin': VERSION },
        body: '{"session_id":"w1","text":"Rewrote it; \\"the tests\\" pass.\\n\\u0000 语 😀"}',
      },
    ]);
  });

  test('has each of the texts that something has been seen to alter as it is', async ($, on) => {
    const made = worker(on);
    await begin($);
    for (const text of Object.values(HARD_TEXTS)) await turn($, text);
    await made.settled();
    expect(made.reports.map((body) => (JSON.parse(body) as { text: string }).text)).toEqual(Object.values(HARD_TEXTS));
  });

  test('rule.textIsCut: a text of 16,001 units says that it was cut', async ($, on) => {
    const made = worker(on);
    await begin($);
    await turn($, 'x'.repeat(16_001));
    await made.settled();
    expect(made.reports).toEqual([answered(`${'x'.repeat(16_000)}\n[truncated]`)]);
  });
});

describe('rule.backgroundDefersTheAnswer', () => {
  const TASKS = {
    'a command': { id: 'b1', type: 'shell', status: 'running', description: 'tests', command: 'npm test' },
    'an agent': { id: 'a1', type: 'subagent', status: 'running', description: 'a task', agent_type: 'general-purpose' },
    'a Codex agent': { id: 'a2', type: 'subagent', status: 'running', description: 'x', agent_type: 'verbatim:codex' },
    'a monitor': { id: 'm1', type: 'monitor', status: 'running', description: 'mon', command: 'tail -f log' },
    'a workflow': { id: 'f1', type: 'workflow', status: 'running', description: 'a test', name: 'test' },
    'something of a kind to come': { id: 'n1', type: 'daydream', status: 'pending', description: '' },
  };
  for (const [name, task] of Object.entries(TASKS)) {
    test(`a turn that leaves ${name} at work answers nothing; the turn that takes it up again answers`, async ($, on) => {
      const made = worker(on);
      await begin($);
      await turn($, 'I started it.', { background_tasks: [task] as never });
      await made.settled();
      expect(made.sent).toEqual([]);
      await turn($, 'It is done.');
      await made.settled();
      expect(made.reports).toEqual([answered('It is done.')]);
    });
  }

  const clockTime = (minutesFromNow: number) => {
    const at = new Date(Date.now() + minutesFromNow * 60_000);
    return `${at.getMinutes()} ${at.getHours()}`;
  };
  const anotherDay = () => {
    const at = new Date(Date.now() + 40 * 24 * 3_600_000);
    return `${at.getDate()} ${at.getMonth() + 1}`;
  };
  const cron = (schedule: string, recurring = false) => ({ id: 'c1', schedule, recurring, prompt: 'go on' });

  const WAKEUPS = {
    'a wakeup in half an hour': () => cron(`${clockTime(30)} * * *`),
    'a wakeup that is overdue': () => cron(`${clockTime(-5)} * * *`),
  };
  for (const [name, wakeup] of Object.entries(WAKEUPS)) {
    test(`a turn that leaves ${name} answers nothing; the turn it starts answers`, async ($, on) => {
      const made = worker(on);
      await begin($);
      await turn($, 'I look again later.', { session_crons: [wakeup()] });
      await stop($, undefined, { session_crons: [wakeup()] });
      await complete($, '');
      await made.settled();
      expect(made.sent).toEqual([]);
      await turn($, 'It is done.');
      await made.settled();
      expect(made.reports).toEqual([answered('It is done.')]);
    });
  }

  const REMINDERS = {
    'a recurring prompt': () => cron('*/1 * * * *', true),
    'a reminder of another day': () => cron(`${clockTime(10)} ${anotherDay()} *`),
    'a wakeup in five hours': () => cron(`${clockTime(300)} * * *`),
  };
  for (const [name, reminder] of Object.entries(REMINDERS)) {
    test(`${name} holds no answer back`, async ($, on) => {
      const made = worker(on);
      await begin($);
      await turn($, 'done', { session_crons: [reminder()] });
      await made.settled();
      expect(made.reports).toEqual([answered('done')]);
    });
  }

  test('an engine whose Stop lists nothing at all is answered for at once', async ($, on) => {
    const made = worker(on);
    await begin($);
    await $.classic.Stop({ stop_hook_active: false, last_assistant_message: 'done' });
    await complete($, 'done');
    await made.settled();
    expect(made.reports).toEqual([answered('done')]);
  });
});

describe('rule.blankSaysUnanswered', () => {
  for (const text of [undefined, '', ' \n', '\u0085', '\u00a0\u2028\ufeff']) {
    test(`a turn whose last message is ${JSON.stringify(text)} reports blank`, async ($, on) => {
      const made = worker(on);
      await begin($);
      await stop($, text);
      await complete($, text ?? '');
      await made.settled();
      expect(made.reports).toEqual([BLANK]);
    });

    test(`one that left work in the background reports nothing: ${JSON.stringify(text)}`, async ($, on) => {
      const made = worker(on);
      await begin($);
      await stop($, text, { background_tasks: [{ id: 'b1', type: 'shell', status: 'running', description: '' }] });
      await complete($, text ?? '');
      await made.settled();
      expect(made.sent).toEqual([]);
    });
  }

  test('a blank turn whose Stop has the text of the turn before reports blank, as often as it happens', async ($, on) => {
    const made = worker(on);
    await begin($);
    await turn($, 'A text');
    for (let times = 0; times < 2; times += 1) {
      await stop($, 'A text');
      await complete($, '');
    }
    await made.settled();
    expect(made.reports).toEqual([answered('A text'), BLANK, BLANK]);
  });

  test('a blank turn after a failed one reports blank: its Stop has words about that one', async ($, on) => {
    const made = worker(on);
    await begin($);
    await complete($, '', { reason: 'error' });
    await stop($, 'API Error: 400 no way');
    await complete($, '');
    await made.settled();
    expect(made.reports).toEqual([BLANK]);
  });

  test('a turn that a Stop hook of the user sent on, and whose dialog was then left with Esc, reports nothing', async ($, on) => {
    // Before the bottom of `worker`, which lets every turn end.
    on('classic.Stop', { stop_hook_active: false }, () => ({ block: 'say more' }));
    const made = worker(on);
    await begin($);
    await stop($, 'first end');
    await complete($, '');
    await made.settled();
    expect(made.sent).toEqual([]);
  });

  test('a blank turn after one that was interrupted after its Stop reports blank', async ($, on) => {
    const made = worker(on);
    await begin($);
    await stop($, 'A text');
    await complete($, '', { reason: 'aborted' });
    await stop($, 'A text');
    await complete($, '');
    await made.settled();
    expect(made.reports).toEqual([BLANK]);
  });
});

describe('rule.otherEndsAreSilent', () => {
  for (const reason of ['aborted', 'refusal', 'error'] as const) {
    test(`a turn that ends with ${reason} reports nothing, and the next one answers`, async ($, on) => {
      const made = worker(on);
      await begin($);
      expect((await complete($, 'I cannot', { reason })).text).toBe('I cannot');
      await complete($, '', { reason });
      await made.settled();
      expect(made.sent).toEqual([]);
      await turn($, 'done');
      await made.settled();
      expect(made.reports).toEqual([answered('done')]);
    });

    test(`it drops its Stop: after ${reason}, no turn answers with the text of that Stop`, async ($, on) => {
      const made = worker(on);
      await begin($);
      await stop($, 'half done');
      await complete($, 'half done', { reason });
      await complete($, 'half done');
      await stop($, undefined);
      await complete($, '', { reason });
      await complete($, '');
      await made.settled();
      expect(made.sent).toEqual([]);
    });
  }

  test('an answer that says it was aborted reports nothing', async ($, on) => {
    const made = worker(on);
    await begin($);
    await stop($, 'half done');
    await complete($, 'half done', { isAborted: true });
    await made.settled();
    expect(made.sent).toEqual([]);
  });
});

describe('rule.stopAnswersForItsTurn', () => {
  test('a Stop whose text is not the answer reports nothing', async ($, on) => {
    const made = worker(on);
    await begin($);
    for (const [text, answer] of [
      ['one', 'another'],
      ['two', ''],
      [undefined, 'another'],
      ['', 'another'],
      ['three', 'three '],
    ] as const) {
      await stop($, text);
      await complete($, answer);
    }
    await made.settled();
    expect(made.sent).toEqual([]);
  });

  test('of two Stops in one turn the last one answers, for a Stop hook of the user sent it on', async ($, on) => {
    const made = worker(on);
    await begin($);
    await stop($, 'first end', { background_tasks: [{ id: 'b1', type: 'shell', status: 'running', description: '' }] });
    await stop($, 'second end', { stop_hook_active: true });
    await complete($, 'second end');
    await stop($, 'third end');
    await stop($, 'fourth end', { stop_hook_active: true });
    await complete($, 'third end');
    await made.settled();
    expect(made.reports).toEqual([answered('second end')]);
  });

  test('one Stop answers once', async ($, on) => {
    const made = worker(on);
    await begin($);
    await stop($, 'done');
    await complete($, 'done');
    await complete($, 'done');
    await made.settled();
    expect(made.reports).toEqual([answered('done')]);
  });

  test("a subagent's completion neither answers nor takes the main loop's Stop", async ($, on) => {
    const made = worker(on);
    await begin($);
    await stop($, 'done');
    for (const reason of ['answer', 'aborted', 'refusal', 'error'] as const) {
      await complete($, 'done', { reason, agentId: 'a1' });
    }
    await made.settled();
    expect(made.sent).toEqual([]);
    await complete($, 'done');
    await made.settled();
    expect(made.reports).toEqual([answered('done')]);
  });

  test("a subagent's Stop is not the main loop's", async ($, on) => {
    const made = worker(on);
    await begin($);
    await stop($, 'its words', { agent_id: 'a1' });
    await complete($, 'its words');
    await stop($, 'done');
    await stop($, 'its words', { agent_id: 'a1' });
    await complete($, 'done');
    await made.settled();
    expect(made.reports).toEqual([answered('done')]);
  });
});

describe('rule.questionReportsNothing', () => {
  test('a question that is left with Esc completes without a Stop, as if it had answered with nothing', async ($, on) => {
    const made = worker(on);
    await begin($);
    await $.classic.PermissionRequest({ tool_name: 'AskUserQuestion', tool_input: { questions: [] } });
    await made.settled();
    expect(made.sent).toEqual([]);
    await complete($, '');
    await made.settled();
    expect(made.sent).toEqual([]);
  });

  test('one that is answered is followed by the turn that answers', async ($, on) => {
    const made = worker(on);
    await begin($);
    await $.classic.PermissionRequest({ tool_name: 'AskUserQuestion', tool_input: {} });
    await $.classic.PostToolUse({ tool_name: 'AskUserQuestion', tool_input: {}, tool_response: {}, tool_use_id: 't1' });
    await turn($, 'blue, then');
    await made.settled();
    expect(made.reports).toEqual([answered('blue, then')]);
  });
});

describe('rule.turnIsNeverHeldUp', () => {
  for (const reply of ['refused', 'hangs', { status: 500, text: 'no' }, { status: 401 }] as const) {
    const how = typeof reply === 'string' ? reply : `answers ${reply.status}`;
    test(`an endpoint that ${how} costs the turn nothing, and is sent no second copy`, async ($, on) => {
      const made = worker(on, { desk: () => reply });
      await begin($);
      for (const text of ['one', 'two', 'three']) {
        await stop($, text);
        expect((await complete($, text)).text).toBe(text);
      }
      await made.had(3);
      if (reply !== 'hangs') await made.settled();
      expect(made.reports).toEqual([answered('one'), answered('two'), answered('three')]);
      expect(made.slept).toEqual([]);
    });
  }
});

describe('rule.firstAnswerWins: a report to Verbatim’s own desk', () => {
  const TASK = deskWith('the task');
  /** A desk that has the task, and answers its reports so, one after the other; then it takes them. */
  const deskThat = (...replies: readonly Reply[]): NonNullable<Parameters<typeof worker>[1]>['desk'] => {
    let reports = 0;
    return (request, count) => {
      if (request.path !== '/mod/answer') return TASK(request, count);
      reports += 1;
      return replies[reports - 1] ?? { status: 204 };
    };
  };

  for (const lost of [1, 4]) {
    test(`that nobody answered is sent again, a second apart, until it is taken: lost ${lost} times`, async ($, on) => {
      const made = worker(on, { env: ERRAND, desk: deskThat(...Array<Reply>(lost).fill('refused')) });
      await begin($);
      await made.settled();
      await turn($, 'done');
      await made.settled();
      expect(made.reports).toEqual(Array<string>(lost + 1).fill(answered('done')));
      expect(made.slept).toEqual(Array<number>(lost).fill(1_000));
    });
  }

  test('that nobody ever answers is sent five times', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: deskThat(...Array<Reply>(20).fill('refused')) });
    await begin($);
    await made.settled();
    await turn($, 'done');
    await made.settled();
    expect(made.reports).toEqual(Array<string>(5).fill(answered('done')));
  });

  for (const status of [400, 401, 413, 429, 500]) {
    test(`that was answered with ${status} is not sent again, and the next turn reports`, async ($, on) => {
      const made = worker(on, { env: ERRAND, desk: deskThat({ status }) });
      await begin($);
      await made.settled();
      await turn($, 'one');
      await made.settled();
      await turn($, 'two');
      await made.settled();
      expect(made.reports).toEqual([answered('one'), answered('two')]);
      expect(made.slept).toEqual([]);
    });
  }

  test('that was taken is the last: what a person goes on with, and what it waits for then, is told to nobody', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: TASK });
    await begin($);
    await made.settled();
    await turn($, 'done');
    await made.settled();
    const before = made.sent.length;
    await submit($, 'and now this');
    await $.classic.PermissionRequest({ tool_name: 'Bash', tool_input: { command: 'ls' } });
    await made.settled();
    await $.classic.StopFailure({ error: 'rate_limit', last_assistant_message: 'limit' });
    await complete($, '', { reason: 'error' });
    await turn($, 'of a person');
    await made.settled();
    expect(made.reports).toEqual([answered('done')]);
    expect(made.sent).toHaveLength(before);
  });

  test('that was taken before the worker had its task is not the last', async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    await made.settled();
    await turn($, 'too early');
    await made.settled();
    await turn($, 'done');
    await made.settled();
    expect(made.reports).toEqual([answered('too early'), answered('done')]);
  });

  test('holds up no turn while the desk hangs', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: deskThat('hangs') });
    await begin($);
    await made.settled();
    await stop($, 'done');
    expect((await complete($, 'done')).text).toBe('done');
    await made.had(2);
    expect(made.reports).toEqual([answered('done')]);
  });
});

describe('another orchestrator', () => {
  test('is sent each report once, and every report, also after one that it took', async ($, on) => {
    const made = worker(on, { desk: (_, count) => (count === 1 ? 'refused' : { status: 204 }) });
    await begin($);
    for (const text of ['one', 'two', 'three']) await turn($, text);
    await made.settled();
    expect(made.reports).toEqual([answered('one'), answered('two'), answered('three')]);
    expect(made.slept).toEqual([]);
  });
});

describe('both halves in one session', () => {
  test('a worker has the codex agent, whose turn is not its answer', async ($, on) => {
    const made = worker(on);
    await begin($);
    expect(made.base.registered).toEqual(['codex']);
    await stop($, 'I asked Codex.', {
      background_tasks: [
        { id: AGENT, type: 'subagent', status: 'running', description: 'x', agent_type: 'verbatim:codex' },
      ] as never,
    });
    await complete($, 'I asked Codex.');
    expect((await run($, made.base)).final).toBe('codex');
    expect(made.base.modelSteps).toBe(0);
    await turn($, 'Codex says: codex');
    await made.had(1);
    expect(made.reports).toEqual([answered('Codex says: codex')]);
  });

  for (const errand of [undefined, '', 'e1', 'Eabcdefghij234567abcd', 'eabcdefghij234567abcd\n']) {
    test(`an orchestrator that names no errand gets reports and nothing else: ${JSON.stringify(errand)}`, async ($, on) => {
      const made = worker(on, { env: { ...WORKER, [ERRAND_VARIABLE]: errand }, desk: deskWith('the task') });
      await begin($);
      await $.classic.PermissionRequest({ tool_name: 'Bash', tool_input: { command: 'ls' } });
      await $.classic.StopFailure({ error: 'rate_limit', last_assistant_message: 'limit' });
      await complete($, '', { reason: 'error' });
      await turn($, 'done');
      await made.settled();
      expect(made.sent.map((one) => one.path)).toEqual(['/mod/answer']);
      expect(made.submitted).toEqual([]);
    });
  }
});

describe('rule.taskIsJustText', () => {
  const OWN = { kind: 'plugin', name: 'verbatim', asUser: true };

  test('the task is asked for once the session has started, and submitted as the words of whoever asked', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: deskWith('  do the thing\r\n\u0000 ') });
    await begin($);
    await made.settled();
    expect(made.sent).toEqual([
      {
        url: `${URL_START}${TASK_PATH}?${QUERY}`,
        path: TASK_PATH,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-lich-plugin': VERSION },
        body: expect.stringMatching(/^\{"session_id":"w1","take":"[0-9a-f-]{36}","claude_session":"session-1"\}$/),
      },
    ]);
    expect(made.submitted).toEqual([{ text: '  do the thing\r\n\u0000 ', origin: OWN }]);
  });

  test('an answer that was lost is asked for again under the same name, a second apart', async ($, on) => {
    const lost = ['refused', { status: 500 }, { status: 200, text: '{"task":' }] as const;
    const made = worker(on, {
      env: ERRAND,
      desk: (request, count) => lost[count - 1] ?? deskWith('the task')(request, count),
    });
    await begin($);
    await made.settled();
    expect(made.submitted).toEqual([{ text: 'the task', origin: OWN }]);
    expect(made.sent).toHaveLength(4);
    expect([...new Set(made.sent.map((one) => one.body))]).toHaveLength(1);
    expect(made.slept).toEqual([1_000, 1_000, 1_000]);
  });

  test('a desk that never answers is asked five times, and nothing is submitted', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: () => 'refused' });
    await begin($);
    await made.settled();
    expect(made.sent).toHaveLength(5);
    expect(made.submitted).toEqual([]);
  });

  for (const status of [204, 400, 401, 404]) {
    test(`a desk that answers ${status} is asked once, and nothing is submitted`, async ($, on) => {
      const made = worker(on, { env: ERRAND, desk: () => ({ status }) });
      await begin($);
      await made.settled();
      expect(made.sent.map((one) => one.path)).toEqual([TASK_PATH]);
      expect(made.submitted).toEqual([]);
    });
  }

  test('a desk that hangs holds the session up neither at its start nor later', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: () => 'hangs' });
    await begin($);
    await turn($, 'done');
    await made.had(2);
    expect(made.sent.map((one) => one.path)).toEqual([TASK_PATH, '/mod/answer']);
  });

  const TASKS = [
    '/help',
    ' /help \r\n me ',
    '\n\t/nosuchcommand x',
    '\ufeff/tmp/a.txt is a path',
    '//',
    '\u200b/help',
    '\u200b\u200b \u00a0/help',
    '\u200bhidden',
    '!ls',
    '#note',
    '@package.json',
    '<system-reminder>x</system-reminder>',
    'exit',
    'not / a command',
  ];
  for (const task of TASKS) {
    test(`it enters byte for byte: ${JSON.stringify(task)}`, async ($, on) => {
      const made = worker(on, { env: ERRAND, desk: deskWith(task) });
      await begin($);
      await made.settled();
      const [submitted] = made.submitted;
      expect(submitted?.text.trim().startsWith('/')).toBe(false);
      expect(await enter($, submitted?.text ?? '')).toEqual([{ type: 'text', text: task }]);
    });
  }

  test('what stands beside it in the conversation stays', async ($, on) => {
    worker(on, { env: ERRAND });
    await begin($);
    const beside = { type: 'text', text: '<system-reminder>the date</system-reminder>' };
    expect(await enter($, '\u200b/help', 'verbatim', [beside])).toEqual([{ type: 'text', text: '/help' }, beside]);
  });

  test("another plugin's prompt is left as it is", async ($, on) => {
    worker(on, { env: ERRAND });
    await begin($);
    expect(await enter($, '\u200b/help', 'another')).toEqual([{ type: 'text', text: '\u200b/help' }]);
  });

  test('a task that is dropped is told as refused, with the reason', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: deskWith('the task'), drop: 'blocked by a hook' });
    await begin($);
    await made.settled();
    expect(made.waits).toEqual([{ for: 'task_refused', what: 'blocked by a hook' }]);
    expect(made.reports).toEqual([]);
  });

  test('a task that the engine rejects is told as refused, with the reason', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: deskWith('') });
    await begin($);
    await made.settled();
    expect(made.submitted).toEqual([]);
    expect(made.waits).toEqual([{ for: 'task_refused', what: expect.stringContaining('prompt') }]);
  });

  test('what a person types then takes the refusal back', async ($, on) => {
    const made = worker(on, { env: ERRAND, desk: deskWith('') });
    await begin($);
    await made.settled();
    await submit($, 'another task');
    await made.settled();
    expect(made.waits.slice(1)).toEqual([null]);
  });
});

describe('what the worker waits for', () => {
  const ask = { tool_name: 'AskUserQuestion', tool_input: { questions: [{ question: 'Which colour?' }, {}] } };
  const bash = { tool_name: 'Bash', tool_input: { command: 'rm -r build' } };
  const did = { tool_response: {}, tool_use_id: 't1' };
  const PERMISSION = { for: 'permission', what: 'Bash: rm -r build' };

  test('is told with the session, once for each dialog, and taken back when the tool has been at work', async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    await made.settled();
    await $.classic.PermissionRequest(bash);
    await $.classic.PermissionRequest(bash);
    await made.settled();
    expect(made.sent.slice(1)).toEqual([
      {
        url: `${URL_START}${WAITING_PATH}?${QUERY}`,
        path: WAITING_PATH,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-lich-plugin': VERSION },
        body: '{"session_id":"w1","waiting":{"for":"permission","what":"Bash: rm -r build"}}',
      },
    ]);
    await $.classic.PostToolUse({ ...bash, ...did });
    await $.classic.PostToolUse({ ...bash, ...did });
    await made.settled();
    expect(made.waits).toEqual([PERMISSION, null]);
  });

  test('is the first question of those that are asked, and a failed tool takes it back too', async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    await $.classic.PermissionRequest(ask);
    await made.settled();
    await $.classic.PostToolUseFailure({ ...ask, tool_use_id: 't1', error: 'no' });
    await made.settled();
    expect(made.waits).toEqual([{ for: 'question', what: 'Which colour?' }, null]);
  });

  test('is taken back at the end of the turn, where the dialog was left with Esc', async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    for (const reason of ['answer', 'aborted', 'refusal', 'error'] as const) {
      await $.classic.PermissionRequest(bash);
      await made.settled();
      await complete($, '', { reason });
      await made.settled();
    }
    expect(made.waits).toEqual([PERMISSION, null, PERMISSION, null, PERMISSION, null, PERMISSION, null]);
    expect(made.reports).toEqual([]);
  });

  test("the end of the main loop's turn leaves an agent's dialog open, and the end of the agent's takes it back", async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    await $.classic.PermissionRequest({ ...bash, agent_id: 'a1' });
    await made.settled();
    await complete($, 'gone on');
    await complete($, 'gone on', { agentId: 'a2' });
    await made.settled();
    expect(made.waits).toEqual([PERMISSION]);
    await complete($, '', { agentId: 'a1', reason: 'aborted' });
    await made.settled();
    expect(made.waits).toEqual([PERMISSION, null]);
  });

  test('one tool of an agent and of the main loop: each takes back its own dialog', async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    await $.classic.PermissionRequest({ ...ask, agent_id: 'a1' });
    await made.settled();
    await $.classic.PostToolUse({ ...ask, ...did });
    await $.classic.PostToolUse({ ...bash, ...did, agent_id: 'a1' });
    await made.settled();
    expect(made.waits).toHaveLength(1);
    await $.classic.PostToolUse({ ...ask, ...did, agent_id: 'a1' });
    await made.settled();
    expect(made.waits.at(-1)).toBe(null);
  });

  test('rule.otherEndsAreSilent: a turn that failed is told, with its error, until the next prompt', async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    await $.classic.StopFailure({ error: 'rate_limit', last_assistant_message: 'try again at 18:00' });
    await complete($, '', { reason: 'error' });
    await made.settled();
    expect(made.waits).toEqual([{ for: 'turn_failed', what: 'rate_limit: try again at 18:00' }]);
    await submit($, 'try again');
    await made.settled();
    expect(made.waits.slice(1)).toEqual([null]);
    expect(made.reports).toEqual([]);
  });

  test("an agent's failure is not the worker's", async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    await $.classic.StopFailure({ error: 'rate_limit', agent_id: 'a1' });
    await made.settled();
    expect(made.waits).toEqual([]);
  });

  test('is never longer than its limit', async ($, on) => {
    const made = worker(on, { env: ERRAND });
    await begin($);
    await $.classic.StopFailure({ error: 'unknown', last_assistant_message: '😀'.repeat(WAITING_LIMIT) });
    await made.settled();
    expect(made.waits.every((wait) => (wait?.what.length ?? 0) <= WAITING_LIMIT)).toBe(true);
    expect(made.waits[0]?.what).toStartWith('😀😀');
  });

  test('one message waits for the one before it: what is so by then is told, and nothing in between', async ($, on) => {
    let release: (reply: Reply) => void = () => undefined;
    const held = new Promise<Reply>((resolve) => {
      release = resolve;
    });
    const made = worker(on, { env: ERRAND, desk: ({ path }) => (path === WAITING_PATH ? held : { status: 204 }) });
    await begin($);
    await $.classic.PermissionRequest(bash);
    await made.had(2);
    await $.classic.PostToolUse({ ...bash, ...did });
    await $.classic.PermissionRequest({ ...bash, agent_id: 'a1' });
    await turn($, 'done');
    await $.classic.PermissionRequest(ask);
    await $.classic.PostToolUse({ ...bash, ...did, agent_id: 'a1' });
    await made.had(3);
    expect(made.waits).toEqual([PERMISSION]);
    expect(made.reports).toEqual([answered('done')]);
    release({ status: 204 });
    await made.settled();
    expect(made.waits).toEqual([PERMISSION, { for: 'question', what: 'Which colour?' }]);
  });
});
