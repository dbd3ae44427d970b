import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, type Report } from '../../../plugin/hooks/protocol/mod-answer.js';
import { Desk } from '../../../sidecar/src/desk/desk.js';
import type { ErrandEnd, ErrandRecord } from '../../../sidecar/src/desk/errand.js';
import { Errands } from '../../../sidecar/src/desk/errands.js';
import { DeskLab, NEW } from './lab.js';

let lab: DeskLab;
beforeEach(() => {
  lab = new DeskLab();
});
afterEach(() => lab.close());

/** Whether the errand's end was told. */
async function isTold(id: string): Promise<boolean> {
  const not = new Promise<boolean>((resolve) => setImmediate(() => resolve(false)));
  return await Promise.race([lab.desk.ended(id).then(() => true), not]);
}

const answered = (text: string): ErrandEnd => ({
  kind: 'answered',
  bytes: Buffer.byteLength(text),
  sha256: createHash('sha256').update(text).digest('hex'),
  isTruncated: false,
});

describe('rule.firstAnswerWins', () => {
  it('an errand whose worker took the task ends with its report', async () => {
    const { id, session } = lab.open('do this');
    expect(lab.desk.take(session, 'a')).toBe('do this');
    lab.desk.report({ session_id: session, text: ' done \n' });
    expect(await isTold(id)).toBe(true);
    expect(await lab.desk.ended(id)).toEqual(answered(' done \n'));
    expect(lab.onDisk(id)).toMatchObject({ state: { end: answered(' done \n'), endedAt: 1_000 }, answer: ' done \n' });
  });

  it('a report from before its task was taken changes nothing', async () => {
    const { id, session } = lab.open();
    const before = lab.onDisk(id);
    lab.desk.report({ session_id: session, text: 'too early' });
    lab.desk.report({ session_id: session, unanswered: 'blank' });
    expect(await isTold(id)).toBe(false);
    expect(lab.onDisk(id)).toEqual(before);
    expect(lab.desk.take(session, 'a')).toBe('the task');
  });

  it.each<[string, Partial<Report>]>([
    ['the same again', { text: 'first' }],
    ['another text', { text: 'second' }],
    ['that there is none', { unanswered: 'error' }],
  ])('a second report changes nothing: %s', async (_, second) => {
    const { id, session } = lab.taken();
    lab.desk.report({ session_id: session, text: 'first' });
    const before = lab.onDisk(id);
    lab.desk.report({ session_id: session, ...second } as Report);
    expect(await lab.desk.ended(id)).toEqual(answered('first'));
    expect(lab.onDisk(id)).toEqual(before);
  });

  it.each(['blank', 'error', 'refusal'] as const)('a report without an answer (%s) is an end', async (how) => {
    const { id, session } = lab.taken();
    lab.desk.report({ session_id: session, unanswered: how });
    lab.desk.report({ session_id: session, text: 'late' });
    expect(await lab.desk.ended(id)).toEqual({ kind: 'unanswered', how });
    expect(lab.onDisk(id)).toMatchObject({ state: { end: { kind: 'unanswered', how } }, answer: null });
  });

  it.each<ErrandEnd>([
    { kind: 'worker_ended', detail: 'exit code 1' },
    { kind: 'timed_out' },
    { kind: 'interrupted', detail: 'SIGINT' },
    { kind: 'failed', detail: 'no tmux' },
  ])('a report after another end changes nothing: $kind', async (end) => {
    const { id, session } = lab.taken();
    expect(lab.desk.end(id, end)).toBe(true);
    lab.desk.report({ session_id: session, text: 'late' });
    expect(await lab.desk.ended(id)).toEqual(end);
    expect(lab.onDisk(id)).toMatchObject({ state: { end }, answer: null });
  });

  it('another end after a report changes nothing', async () => {
    const { id, session } = lab.taken();
    lab.desk.report({ session_id: session, text: 'first' });
    expect(lab.desk.end(id, { kind: 'timed_out' })).toBe(false);
    expect(await lab.desk.ended(id)).toEqual(answered('first'));
    expect(lab.onDisk(id).state).toMatchObject({ end: { kind: 'answered' } });
  });

  it('a report of another session changes nothing, and one errand leaves another alone', async () => {
    const one = lab.taken();
    const other = lab.taken();
    const before = lab.onDisk(one.id);
    for (const session of ['', 'w', one.id, `${one.session} `, one.session.toUpperCase(), '__proto__', 'constructor']) {
      lab.desk.report({ session_id: session, text: 'foreign' });
    }
    lab.desk.report({ session_id: other.session, text: 'mine' });
    expect(await lab.desk.ended(other.id)).toEqual(answered('mine'));
    expect(await isTold(one.id)).toBe(false);
    expect(lab.onDisk(one.id)).toEqual(before);
  });

  it('where two errands are open for one session a report is for neither, and with one of them ended for the other', async () => {
    const one = lab.taken();
    const other = lab.open('more', { session: one.session, take: 'b' });
    for (const report of [{ text: 'whose?' }, { unanswered: 'blank' }] as const) {
      lab.desk.report({ session_id: one.session, ...report });
    }
    expect([await isTold(one.id), await isTold(other.id)]).toEqual([false, false]);
    expect(lab.onDisk(one.id).answer).toBeNull();
    lab.desk.end(one.id, { kind: 'timed_out' });
    lab.desk.report({ session_id: one.session, text: 'the one left' });
    expect(await lab.desk.ended(other.id)).toEqual(answered('the one left'));
    expect(lab.onDisk(one.id)).toMatchObject({ state: { end: { kind: 'timed_out' } }, answer: null });
  });

  it('where two errands are open for one session neither hands its task over', () => {
    const one = lab.open();
    lab.open('more', { session: one.session });
    expect(lab.desk.take(one.session, 'a')).toBeNull();
    expect(lab.onDisk(one.id).state).toMatchObject({ take: null });
  });

  it('the same take gets the task again, another one gets none, and after the end nobody does', () => {
    const { id, session } = lab.open();
    expect(lab.desk.take('another', 'a')).toBeNull();
    expect(lab.desk.take(session, 'a')).toBe('the task');
    expect(lab.desk.take(session, 'a')).toBe('the task');
    expect(lab.desk.take(session, 'b')).toBeNull();
    expect(lab.onDisk(id).state).toMatchObject({ take: 'a' });
    lab.desk.end(id, { kind: 'timed_out' });
    expect(lab.desk.take(session, 'a')).toBeNull();
  });

  it('a desk that is started again goes on with an open errand: its take, its address and its report', async () => {
    const { id, session } = lab.open();
    lab.desk.note(id, { desk: { port: 4_711, token: 'kept' } });
    lab.desk.take(session, 'a');
    const again = lab.newDesk();
    expect(again.takeUp(id)).toMatchObject({ take: 'a', desk: { port: 4_711, token: 'kept' } });
    expect(again.take(session, 'a')).toBe('the task');
    expect(again.take(session, 'b')).toBeNull();
    again.report({ session_id: session, text: 'after the restart' });
    expect(await again.ended(id)).toEqual(answered('after the restart'));
    expect(lab.onDisk(id).answer).toBe('after the restart');
  });

  it('a desk that is started again knows an errand that ended, and no report reopens it', async () => {
    const { id, session } = lab.taken();
    lab.desk.report({ session_id: session, text: 'first' });
    const before = lab.onDisk(id);
    const again = lab.newDesk();
    again.takeUp(id);
    expect(await again.ended(id)).toEqual(answered('first'));
    again.report({ session_id: session, text: 'second' });
    expect(again.end(id, { kind: 'timed_out' })).toBe(false);
    expect(lab.onDisk(id)).toEqual(before);
  });

  it('the id that Claude Code has for the session which took the task is kept, and that of a later one is not', () => {
    const { id, session } = lab.open();
    lab.desk.take(session, 'a', 'claude-1');
    lab.desk.take(session, 'a', 'claude-2');
    lab.desk.take(session, 'b', 'claude-3');
    expect(lab.onDisk(id).state).toMatchObject({ take: 'a', claudeSession: 'claude-1' });
    const unnamed = lab.taken();
    expect(lab.onDisk(unnamed.id).state).toMatchObject({ claudeSession: null });
  });

  it('there is no errand where none was made', () => {
    const id = `e${'a'.repeat(20)}`;
    expect(() => lab.desk.takeUp(id)).toThrow(`there is no errand ${id}`);
    expect(() => lab.desk.end(id, { kind: 'timed_out' })).toThrow(`errand ${id} is not at this desk`);
  });
});

describe('what a worker waits for', () => {
  const question = { for: 'question', what: 'Which colour?' } as const;

  it('is on disk before it is told, and told once', () => {
    const told: unknown[] = [];
    const { id, session } = lab.taken();
    const desk = new Desk(lab.errands, Date.now, ({ wait }) => told.push([wait, lab.onDisk(id).state.wait]));
    desk.takeUp(id);
    desk.sessionWaits(session, question);
    desk.sessionWaits(session, { ...question });
    desk.sessionWaits('another', null);
    desk.sessionWaits(session, null);
    desk.sessionWaits(session, null);
    expect(told).toEqual([
      [question, question],
      [null, null],
    ]);
  });

  it('is over with its start when it takes its task, and with everything when the errand ends', () => {
    const { id, session } = lab.open();
    lab.desk.waits(id, { for: 'trust', what: '' });
    expect(lab.onDisk(id).state.wait).toEqual({ for: 'trust', what: '' });
    lab.desk.take(session, 'a');
    expect(lab.onDisk(id).state.wait).toBeNull();
    lab.desk.sessionWaits(session, question);
    lab.desk.report({ session_id: session, text: 'x' });
    expect(lab.onDisk(id).state.wait).toBeNull();
    lab.desk.waits(id, question);
    lab.desk.sessionWaits(session, question);
    expect(lab.onDisk(id).state.wait).toBeNull();
  });
});

describe('an errand that is unattended', () => {
  const waits = [
    { for: 'trust', what: '' },
    { for: 'sign_in', what: '' },
    { for: 'permission', what: 'Bash: ls' },
    { for: 'question', what: 'Which?' },
    { for: 'task_refused', what: 'a hook' },
    { for: 'turn_failed', what: 'rate_limit' },
  ] as const;

  it.each(waits)('ends with what its worker waits for: $for', async (wait) => {
    const { id } = lab.taken('x', { isUnattended: true });
    lab.desk.waits(id, wait);
    const end = { kind: 'needs_person', wait } as const;
    expect(await lab.desk.ended(id)).toEqual(end);
    expect(lab.onDisk(id).state).toMatchObject({ end, endedAt: 1_000, wait: null });
    expect(lab.errands.read(id)?.end).toEqual(end);
  });

  it('goes on where nothing is known but that it has not taken its task', async () => {
    const { id, session } = lab.open('x', { isUnattended: true });
    lab.desk.waits(id, { for: 'start', what: 'Loading' });
    expect(await isTold(id)).toBe(false);
    expect(lab.onDisk(id).state).toMatchObject({ end: null, wait: { for: 'start' } });
    expect(lab.desk.take(session, 'a')).toBe('x');
  });

  it('goes on where its worker goes on, and one that somebody looks after waits', async () => {
    const unattended = lab.taken('x', { isUnattended: true });
    lab.desk.sessionWaits(unattended.session, null);
    expect(await isTold(unattended.id)).toBe(false);
    const attended = lab.taken();
    for (const wait of waits) lab.desk.waits(attended.id, wait);
    expect(await isTold(attended.id)).toBe(false);
  });
});

describe('rule.firstAnswerWins: an end that was written from outside', () => {
  const OUTSIDE = { kind: 'interrupted', detail: 'verbatim worker stop' } as const;

  function endedOutside(): ErrandRecord {
    const record = lab.taken();
    lab.errands.save({ ...record, end: OUTSIDE, endedAt: 77 });
    return record;
  }

  it.each<[string, (record: ErrandRecord) => void]>([
    ['a note', ({ id }) => lab.desk.note(id, { host: null })],
    ['a report', ({ session }) => lab.desk.report({ session_id: session, text: 'late' })],
    ['that there is no answer', ({ session }) => lab.desk.report({ session_id: session, unanswered: 'blank' })],
    ['another end', ({ id }) => expect(lab.desk.end(id, { kind: 'timed_out' })).toBe(false)],
    ['a wait', ({ id }) => lab.desk.waits(id, { for: 'question', what: '' })],
  ])('stands, and is what waits for the end gets, after %s', async (_, act) => {
    const record = endedOutside();
    act(record);
    expect(await isTold(record.id)).toBe(true);
    expect(await lab.desk.ended(record.id)).toEqual(OUTSIDE);
    expect(lab.desk.errand(record.id).end).toEqual(OUTSIDE);
    expect(lab.onDisk(record.id).state).toMatchObject({ end: OUTSIDE, endedAt: 77, wait: null });
  });

  it('hands no task over any more', async () => {
    const record = lab.open();
    lab.errands.save({ ...record, end: OUTSIDE, endedAt: 77 });
    expect(lab.desk.take(record.session, 'a')).toBeNull();
    expect(await lab.desk.ended(record.id)).toEqual(OUTSIDE);
  });

  it('is told of no wait', () => {
    const told: unknown[] = [];
    const record = endedOutside();
    const desk = new Desk(lab.errands, Date.now, ({ wait }) => told.push(wait));
    lab.errands.save(record);
    desk.takeUp(record.id);
    lab.errands.save({ ...record, end: OUTSIDE, endedAt: 77 });
    desk.waits(record.id, { for: 'question', what: '' });
    expect(told).toEqual([]);
  });
});

describe('an answer on disk', () => {
  it.each([
    ['white space around it', ' \n\r\n\tanswer \n\n'],
    ['NUL, U+2028, a BOM and emoji', '\ufeff\0\u2028\u{1f468}\u200d\u{1f469}e\u0301'],
    ['as long as a body may be', 'x'.repeat(65_000)],
    ['of characters of three bytes', '\u20ac'.repeat(21_000)],
  ])('is exactly the bytes of the text: %s', async (_, text) => {
    const { id, session } = lab.taken();
    lab.desk.report({ session_id: session, text });
    expect(lab.errands.answerOf(id)?.equals(Buffer.from(text))).toBe(true);
    expect(await lab.desk.ended(id)).toEqual(answered(text));
  });

  it('with half a surrogate pair has U+FFFD in its place, and its length and sha256 are those of the file', async () => {
    const { id, session } = lab.taken();
    lab.desk.report({ session_id: session, text: 'a\ud83d.\ude00' });
    expect(lab.errands.answerOf(id)?.toString('utf8')).toBe('a\ufffd.\ufffd');
    expect(await lab.desk.ended(id)).toEqual(answered('a\ufffd.\ufffd'));
  });

  it('says that it was cut where its sender cut it, and not where it only ends like that', async () => {
    const cut = lab.taken();
    lab.desk.report(JSON.parse(bodyOf({ session_id: cut.session, text: 'y'.repeat(20_000) })) as Report);
    expect(await lab.desk.ended(cut.id)).toMatchObject({ kind: 'answered', isTruncated: true });
    const whole = lab.taken();
    lab.desk.report({ session_id: whole.session, text: 'it said\n[truncated]' });
    expect(await lab.desk.ended(whole.id)).toMatchObject({ kind: 'answered', isTruncated: false });
  });
});

describe('a task on disk', () => {
  it.each([
    ['one that looks like an option', '--help'],
    ['a BOM, NUL and white space', '\ufeff\0 \n'],
    ['the longest there is', '\u20ac'.repeat(600_000)],
  ])('rule.taskIsJustText: comes back as it was given: %s', (_, task) => {
    const { session } = lab.open(task);
    expect(lab.desk.take(session, 'a') === task).toBe(true);
  });
});

describe('errands on disk', () => {
  it('are their user’s alone: folders 0700, files 0600, and no draft is left', () => {
    const { id, session } = lab.taken();
    lab.desk.report({ session_id: session, text: 'x' });
    const folder = lab.errands.folderOf(id);
    for (const each of [lab.state, join(lab.state, 'errands'), folder]) {
      expect(lstatSync(each).mode & 0o777).toBe(0o700);
    }
    expect(readdirSync(folder).sort()).toEqual(['answer', 'state.json', 'task']);
    for (const name of readdirSync(folder)) expect(lstatSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('are read as they were written, whatever was kept of them', () => {
    const whole: Partial<ErrandRecord> = {
      parent: `e${'b'.repeat(20)}`,
      model: 'opus',
      mode: 'plan',
      isKept: true,
      isUnattended: true,
      take: 'a',
      claudeSession: 'c',
      wait: { for: 'permission', what: 'Bash' },
      end: { kind: 'failed', detail: '' },
      endedAt: 7,
      asker: { pid: 1, startTime: '2' },
      host: { pid: 3, startTime: '' },
      desk: { port: 65_535, token: 't' },
      tmux: '/tmp/x/s',
      worker: { pid: 4, startTime: '5' },
    };
    const record = { ...lab.errands.open('x', NEW, 1), ...whole };
    lab.errands.save(record);
    expect(lab.errands.read(record.id)).toEqual(record);
  });

  it.each<ErrandEnd>([
    { kind: 'timed_out' },
    { kind: 'timed_out', isTaken: false },
    { kind: 'timed_out', isTaken: true, wait: { for: 'question', what: 'Which?' } },
    { kind: 'needs_person', wait: { for: 'trust', what: '' } },
  ])('are read with the end that they had: %j', (end) => {
    const record = { ...lab.errands.open('x', NEW, 1), end, endedAt: 7 };
    lab.errands.save(record);
    expect(lab.errands.read(record.id)).toEqual(record);
  });

  it('are read again however long the words about their end are', () => {
    const { id } = lab.open();
    const detail = 'the screen '.repeat(2_000);
    lab.desk.end(id, { kind: 'worker_ended', detail });
    expect(lab.errands.read(id)?.end).toEqual({ kind: 'worker_ended', detail });
  });

  it('have names and sessions that nobody guesses, and no two the same', () => {
    const records = Array.from({ length: 50 }, () => lab.errands.open('x', NEW, 1));
    expect(new Set(records.flatMap(({ id, session }) => [id.slice(1), session.slice(1)])).size).toBe(100);
    for (const { id } of records) expect(id).toMatch(/^e[a-z2-7]{20}$/);
  });

  it.each<[string, string, string]>([
    ['no JSON', '{"version":', 'JSON'],
    ['empty', '', 'JSON'],
    ['another errand’s', '{"version":1,"id":"ebbbbbbbbbbbbbbbbbbbb"}', 'id must be'],
    ['a newer version', '{"version":2}', 'version is 2; this Verbatim reads 1. Update Verbatim'],
    ['no object', 'null', 'state.json must be an object, it is null'],
    ['half of the fields', '{"version":1,"id":"ID"}', 'session is missing'],
  ])('whose state is damaged are named with the reason, and leave the others alone: %s', (_, text, says) => {
    const good = lab.open();
    const bad = lab.open();
    writeFileSync(join(lab.errands.folderOf(bad.id), 'state.json'), text.replace('ID', bad.id));
    expect(lab.errands.list()).toMatchObject([
      { kind: 'errand', record: { id: good.id } },
      { kind: 'problem', id: bad.id, problem: expect.stringContaining(says) },
    ]);
    expect(() => lab.newDesk().takeUp(bad.id)).toThrow(says);
  });

  it.each<[string, (folder: string, target: string) => void]>([
    ['folder', (folder, target) => symlinkSync(target, folder)],
    [
      'state',
      (folder, target) => {
        mkdirSync(folder, { mode: 0o700 });
        writeFileSync(join(folder, 'task'), 'x');
        symlinkSync(join(target, 'state.json'), join(folder, 'state.json'));
      },
    ],
    [
      'task',
      (folder, target) => {
        mkdirSync(folder, { mode: 0o700 });
        writeFileSync(join(folder, 'state.json'), readFileSync(join(target, 'state.json')));
        symlinkSync(join(target, 'task'), join(folder, 'task'));
      },
    ],
  ])('whose %s is a link are a problem that says so, and nothing is read through it', (_, make) => {
    const { id } = lab.open();
    const target = join(lab.root, 'elsewhere');
    renameSync(lab.errands.folderOf(id), target);
    make(lab.errands.folderOf(id), target);
    expect(lab.errands.list()).toMatchObject([{ kind: 'problem', id, problem: expect.stringContaining('is a link') }]);
  });

  it('whose answer is a link have none that is read', () => {
    const { id, session } = lab.taken();
    lab.desk.report({ session_id: session, text: 'x' });
    const file = join(lab.errands.folderOf(id), 'answer');
    rmSync(file);
    symlinkSync('/etc/hostname', file);
    expect(() => lab.errands.answerOf(id)).toThrow('is a link');
  });

  it('are not written through a link in a folder’s place', () => {
    const { id, session } = lab.taken();
    const folder = lab.errands.folderOf(id);
    const target = join(lab.root, 'elsewhere');
    renameSync(folder, target);
    symlinkSync(target, folder);
    const before = readdirSync(target);
    expect(() => lab.desk.report({ session_id: session, text: 'x' })).toThrow('is a link');
    expect(() => lab.errands.remove(id)).toThrow('is a link');
    expect(readdirSync(target)).toEqual(before);
  });

  it('are not looked for through a link in the place of the folder of all', () => {
    lab.open();
    const all = join(lab.state, 'errands');
    renameSync(all, join(lab.root, 'elsewhere'));
    symlinkSync(join(lab.root, 'elsewhere'), all);
    expect(() => lab.errands.list()).toThrow('is a link');
    expect(() => lab.errands.open('x', NEW, 1)).toThrow('is a link');
  });

  it('that are being made or removed are not there yet, or any more', () => {
    const { id } = lab.open();
    rmSync(join(lab.errands.folderOf(id), 'state.json'));
    expect(lab.errands.list()).toEqual([]);
    expect(lab.errands.read(id)).toBeNull();
  });

  it('of a fresh machine are none, and looking for them makes no folder', () => {
    const state = join(lab.root, 'never-used');
    expect(new Errands(state).list()).toEqual([]);
    expect(new Errands(state).read(`e${'a'.repeat(20)}`)).toBeNull();
    expect(existsSync(state)).toBe(false);
  });

  it('are not named by what is no errand id', () => {
    lab.open();
    for (const id of ['', '..', '../jobs', 'e', `e${'a'.repeat(19)}/`]) expect(lab.errands.read(id)).toBeNull();
  });
});

describe('where the disk fails', () => {
  const failures: [string, (folder: string) => () => void][] = [
    [
      'the folder is gone',
      (folder) => {
        renameSync(folder, `${folder}.away`);
        return () => renameSync(`${folder}.away`, folder);
      },
    ],
    [
      'a file stands in its place',
      (folder) => {
        renameSync(folder, `${folder}.away`);
        writeFileSync(folder, '');
        return () => {
          rmSync(folder);
          renameSync(`${folder}.away`, folder);
        };
      },
    ],
    [
      'a folder stands in the place of its state',
      (folder) => {
        const state = join(folder, 'state.json');
        renameSync(state, `${state}.away`);
        mkdirSync(join(state, 'in-the-way'), { recursive: true });
        return () => {
          rmSync(state, { recursive: true });
          renameSync(`${state}.away`, state);
        };
      },
    ],
  ];

  it.each(failures)(
    'rule.firstAnswerWins: a report is not taken, and fails its errand, for one that was answered is not sent again (%s)',
    async (_, fail) => {
      const { id, session } = lab.taken();
      const mend = fail(lab.errands.folderOf(id));
      expect(() => lab.desk.report({ session_id: session, text: 'x' })).toThrow();
      const end = await lab.desk.ended(id);
      expect(end).toEqual({ kind: 'failed', detail: expect.stringContaining('its answer could not be written: ') });
      mend();
      lab.desk.report({ session_id: session, text: 'y' });
      expect(lab.desk.errand(id).end).toEqual(end);
      expect(lab.errands.answerOf(id)?.toString()).not.toBe('y');
    },
  );

  it.each(failures)(
    'a task that is not known to be taken is not handed over, and its errand fails (%s)',
    async (_, fail) => {
      const { id, session } = lab.open();
      const mend = fail(lab.errands.folderOf(id));
      expect(() => lab.desk.take(session, 'a')).toThrow();
      const end = await lab.desk.ended(id);
      expect(end).toEqual({ kind: 'failed', detail: expect.stringContaining('its state could not be written: ') });
      mend();
      for (const take of ['a', 'b']) expect(lab.desk.take(session, take)).toBeNull();
      expect(lab.desk.errand(id).end).toEqual(end);
    },
  );

  it.each(failures)('what a worker waits for is told all the same, and so is that it goes on (%s)', (_, fail) => {
    const told: unknown[] = [];
    const { id, session } = lab.taken();
    const unwritten: unknown[] = [];
    const desk = new Desk(
      lab.errands,
      Date.now,
      ({ wait }) => told.push(wait),
      (error) => unwritten.push(error),
    );
    desk.takeUp(id);
    const mend = fail(lab.errands.folderOf(id));
    const wait = { for: 'question', what: 'Which?' } as const;
    desk.sessionWaits(session, wait);
    desk.sessionWaits(session, wait);
    desk.sessionWaits(session, null);
    expect(told).toEqual([wait, null]);
    expect(unwritten).toHaveLength(2);
    mend();
    desk.sessionWaits(session, wait);
    expect(lab.onDisk(id).state.wait).toEqual(wait);
  });

  it.each(failures)(
    'rule.noWorkerIsLeft: an end of another kind is told, for somebody has to close the worker (%s)',
    async (_, fail) => {
      const { id, session } = lab.taken();
      const mend = fail(lab.errands.folderOf(id));
      expect(lab.desk.end(id, { kind: 'timed_out' })).toBe(true);
      expect(await lab.desk.ended(id)).toEqual({ kind: 'timed_out' });
      expect(lab.unwritten).toHaveLength(1);
      mend();
      lab.desk.report({ session_id: session, text: 'late' });
      expect(lab.errands.answerOf(id)).toBeNull();
      // What was told is written with whatever is kept next.
      lab.desk.note(id, { host: null });
      expect(lab.onDisk(id).state).toMatchObject({ end: { kind: 'timed_out' } });
    },
  );
});
