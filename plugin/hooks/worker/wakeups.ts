/** Which scheduled prompts are the same piece of work going on, and which only stand in the calendar. */

/** One of `classic.Stop`'s `session_crons`. */
export type Cron = {
  /** Five fields, in local time; a one-shot's minute and hour are numbers, its date too or `*` (measured on 2.1.332). */
  readonly schedule: string;
  readonly recurring: boolean;
};

/** ScheduleWakeup waits an hour at most, and fires up to a minute late (measured on 2.1.332). */
const LONGEST_MS = 61 * 60_000;
const DAY_MS = 24 * 3_600_000;

/**
 * Whether the session will wake itself up to go on: a one-shot that is due within the hour, or overdue because a turn
 * was running. A recurring one never runs out, and a one-shot of another day is a reminder: neither holds an answer back.
 *
 * @param now In milliseconds since the epoch.
 */
export function isWakeup({ schedule, recurring }: Cron, now: number): boolean {
  if (recurring) return false;
  const [minute = '', hour = '', day = '', month = ''] = schedule.split(' ');
  if (![minute, hour].every(isNumber)) return true;
  return [-1, 0, 1].some((days) => {
    const at = new Date(now + days * DAY_MS);
    if (isNumber(day) && Number(day) !== at.getDate()) return false;
    if (isNumber(month) && Number(month) !== at.getMonth() + 1) return false;
    at.setHours(Number(hour), Number(minute), 0, 0);
    return Math.abs(at.getTime() - now) <= LONGEST_MS;
  });
}

function isNumber(field: string): boolean {
  return /^\d+$/.test(field);
}
