/**
 * A sidecar's jobs as a process of its own, for a test to kill: one job that runs turn after turn, each with
 * a few events and an answer. Prints the job's id, then goes on until it is killed.
 *
 * argv: the state folder.
 */
import { tmpdir } from 'node:os';
import { Jobs } from '../../sidecar/src/job/jobs.js';
import { ownIdentity } from '../../sidecar/src/process/table.js';
import { ScriptedHarness } from '../scripted-harness.js';

const [state = ''] = process.argv.slice(2);
const harness = new ScriptedHarness();
harness.onThread = (thread) => {
  thread.onSteer = (steer) => steer.answer(Number(steer.id.slice(1)) % 2 === 0 ? 'joined' : 'no_turn');
  thread.onRun = async (turn) => {
    for (let event = 0; event < 5; event++) {
      turn.emit({ kind: 'message', text: `step ${event} `.repeat(200) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    turn.end({
      kind: 'completed',
      answer: `answer to ${turn.input.messages.map((message) => message.id).join()}\n`.repeat(500),
    });
  };
};
const jobs = new Jobs({
  place: { state, self: ownIdentity(), mask: (text) => text, now: Date.now },
  harnessOf: () => harness,
  log: () => {},
});
const { job: made } = jobs.create({
  harness: 'codex',
  agent: 'agent-1',
  session: 'session-1',
  cwd: tmpdir(),
  mode: 'default',
  message: { id: 'm0', text: 'the first' },
});
process.stdout.write(`${made.id}\n`);
const job = jobs.find(made.id);
for (let number = 1; job !== null; number++) {
  await job.send({ id: `m${number}`, text: `message ${number}` }, 'default');
  await job.events(job.view().lastSeq, 50, new AbortController().signal);
}
