/** What a call of one of our tools is answered with: from the journal alone, so that a reload changes nothing. */

import * as actions from '../notes/actions.js';
import { jobState, type TurnEnded } from '../notes/job-state.js';
import { type JobView, POLL_SLICE_MS } from '../protocol/api.js';
import { eventsAfter } from './client.js';
import type { Host } from './host.js';
import type { ToolName } from './tools.js';

export type ToolResult = {
  readonly text: string;
  /** The call was answered before the action ended, which goes on. */
  readonly isCutShort: boolean;
};

/** What is known of the agent that calls. */
export type Caller = {
  /** Settles when the agent's step is to end early. */
  readonly mail: Promise<'mail'>;
  /** Steps of its loop that went to a Claude model. */
  readonly claudeRequests: number;
  /** The turn's end that its run has just shown, and the job as it was then. */
  readonly ended?: TurnEnded;
  readonly endedJob?: JobView;
};

export async function toolResult(
  host: Host,
  tool: ToolName,
  input: Readonly<Record<string, unknown>>,
  caller: Caller,
): Promise<ToolResult> {
  const { job, seq } = input;
  if (tool === 'plan' || tool === 'progress') return whole(actions.NOTED);
  if (typeof job !== 'string' || typeof seq !== 'number') return whole(actions.ACTION_UNKNOWN);
  return tool === 'job' ? whole(await stateResult(host, job, seq, caller)) : actionResult(host, job, seq, caller.mail);
}

async function stateResult(host: Host, job: string, seq: number, caller: Caller): Promise<string> {
  const { ended, endedJob, claudeRequests } = caller;
  if (ended?.seq === seq && endedJob?.id === job) return jobState(endedJob, ended, claudeRequests);
  const page = await eventsAfter(host, job, seq - 1, 0);
  if (page.kind === 'failed') return actions.ACTION_UNKNOWN;
  const event = page.body.events.find((one) => one.seq === seq);
  return event?.kind === 'turn_ended' ? jobState(page.body.job, event, claudeRequests) : actions.ACTION_UNKNOWN;
}

/** Waits for the end of the action that event `seq` began: no watchdog runs while a tool does. */
async function actionResult(host: Host, job: string, seq: number, mail: Promise<'mail'>): Promise<ToolResult> {
  let item: string | undefined;
  let turn: number | undefined;
  let after = seq - 1;
  for (;;) {
    const page = await Promise.race([eventsAfter(host, job, after, POLL_SLICE_MS), mail]);
    if (page === 'mail') return { text: actions.ACTION_STILL_RUNNING, isCutShort: true };
    if (page.kind === 'failed') return whole(actions.ACTION_UNKNOWN);
    for (const event of page.body.events) {
      after = event.seq;
      if (event.seq === seq) {
        if (event.kind !== 'action_started') return whole(actions.ACTION_UNKNOWN);
        item = event.item;
        turn = event.turn;
      } else if (event.kind === 'action_completed' && event.item === item && event.turn === turn) {
        return whole(actions.actionText(event.action, event.result));
      } else if (event.kind === 'turn_ended' && event.turn === turn) {
        return whole(actions.ACTION_UNFINISHED);
      }
    }
    if (item === undefined) return whole(actions.ACTION_UNKNOWN);
    if (page.body.events.length === 0 && page.body.job.status === 'idle') return whole(actions.ACTION_UNFINISHED);
  }
}

function whole(text: string): ToolResult {
  return { text, isCutShort: false };
}
