/** Wiring of the worker's half: Claude Code's events to its turns and waits, and what they say to whoever opened it. */
import type { EngineInterface, On } from 'claude-code';
import { ERRAND_ID } from '../protocol/errand.js';
import { type Fetch, report, sayWaiting, takeTask } from './client.js';
import { type Link, linkOf } from './link.js';
import { submittedOf, uncovered } from './task.js';
import { Turns } from './turns.js';
import { Waits } from './waits.js';

const PLUGIN = 'verbatim';

export function registerWorker(on: On): void {
  let link: Link | undefined;
  /** Whether Verbatim's own desk opened this session: it alone hands tasks over and hears of waits. */
  let isErrand = false;
  let hasTask = false;
  /** The session's own way out: it outlives each hook. */
  let detached: Fetch | undefined;
  let told: Promise<void> = Promise.resolve();
  const turns = new Turns();
  const waits = new Waits();

  // One after the other, and then what is so by then: two at once may arrive in the wrong order.
  const tell = () => {
    if (!isErrand) return;
    told = told.then(async () => {
      const news = waits.news();
      if (link !== undefined && detached !== undefined && news !== undefined) await sayWaiting(detached, link, news);
    });
  };

  // Interactive alone: a `claude -p` that a worker's tool starts has its variables too, and its answers are not the worker's.
  on('session.start', { isInteractive: true }, async ($, e, next) => {
    // Each name is a literal: Claude Code reads from the source which variables a plugin asks for.
    link = linkOf({
      LICH_PORT: await $.env.get('LICH_PORT'),
      LICH_TOKEN: await $.env.get('LICH_TOKEN'),
      LICH_SESSION_ID: await $.env.get('LICH_SESSION_ID'),
      LICH_SUBAGENT_DEPTH: await $.env.get('LICH_SUBAGENT_DEPTH'),
      LICH_SUBAGENT_CARDS: await $.env.get('LICH_SUBAGENT_CARDS'),
    });
    isErrand = link !== undefined && ERRAND_ID.test((await $.env.get('VERBATIM_ERRAND')) ?? '');
    detached = fetchOf($);
    const started = await next(e);
    if (link !== undefined && isErrand) {
      void submitTask($, link, {
        onTask: () => {
          hasTask = true;
        },
        onRefused: (reason) => {
          waits.refused(reason);
          tell();
        },
      });
    }
    return started;
  });

  on('session.append', { door: 'prompt', origin: { kind: 'plugin', name: PLUGIN } }, (_$, e, next) => {
    const [block, ...others] = e.message.content;
    const task = block?.type === 'text' ? uncovered(String(block.text)) : undefined;
    if (task === undefined) return next(e);
    return next({ ...e, message: { ...e.message, content: [{ type: 'text', text: task }, ...others] } });
  });

  on('classic.Stop', async (_$, e, next) => {
    if (e.agent_id !== undefined) return next(e);
    turns.stopping(e);
    const answer = await next(e);
    // A Stop hook of the user's sends the turn on: it was not its end, and another Stop follows.
    if (answer.block !== undefined) turns.sentOn();
    return answer;
  });

  // One hook a reason: an event takes one hook of a plugin without a matcher, and that one is the runner's.
  on('turn.complete', { reason: 'answer' }, ($, e, next) => {
    if (e.agentId === undefined && link !== undefined) {
      const reported = turns.answered(link.session, e.answer, Date.now());
      if (reported !== undefined && !e.isAborted) {
        const sleep = isErrand ? (ms: number) => $.clock.sleep(ms) : undefined;
        void report(fetchOf($), link, reported, sleep).then((isTaken) => {
          // The errand has ended: what a person goes on with here is no answer to anybody.
          if (isTaken && hasTask) link = undefined;
        });
      }
    }
    ended(e.agentId);
    return next(e);
  });
  on('turn.complete', { reason: 'aborted' }, (_$, e, next) => {
    endedOtherwise(e.agentId);
    return next(e);
  });
  on('turn.complete', { reason: 'refusal' }, (_$, e, next) => {
    endedOtherwise(e.agentId);
    return next(e);
  });
  on('turn.complete', { reason: 'error' }, (_$, e, next) => {
    endedOtherwise(e.agentId);
    return next(e);
  });
  const endedOtherwise = (agentId: string | undefined) => {
    if (agentId === undefined) turns.endedOtherwise();
    ended(agentId);
  };
  const ended = (agentId: string | undefined) => {
    waits.turnEnded(agentId);
    tell();
  };

  on('classic.StopFailure', (_$, e, next) => {
    if (e.agent_id === undefined) {
      waits.turnFailed(e.error, e.last_assistant_message);
      tell();
    }
    return next(e);
  });

  on('prompt.submit', (_$, e, next) => {
    waits.turnBegan();
    tell();
    return next(e);
  });

  on('classic.PermissionRequest', (_$, e, next) => {
    waits.asked(e, e.tool_input);
    tell();
    return next(e);
  });
  on('classic.PostToolUse', (_$, e, next) => {
    waits.wentOn(e);
    tell();
    return next(e);
  });
  on('classic.PostToolUseFailure', (_$, e, next) => {
    waits.wentOn(e);
    tell();
    return next(e);
  });
}

/** Hands the session its task, as the words of whoever asked. */
async function submitTask(
  $: EngineInterface,
  link: Link,
  { onTask, onRefused }: { readonly onTask: () => void; readonly onRefused: (reason: string) => void },
): Promise<void> {
  try {
    const task = await takeTask(fetchOf($), link, await $.session.id(), (ms) => $.clock.sleep(ms));
    if (task === undefined) return;
    onTask();
    const submitted = await $.prompt.submit({ text: submittedOf(task), asUser: true });
    if (submitted.drop !== undefined) onRefused(submitted.drop);
  } catch (error) {
    onRefused(error instanceof Error ? error.message : String(error));
  }
}

function fetchOf($: EngineInterface): Fetch {
  return (url, init) => $.http.fetch(url, init);
}
