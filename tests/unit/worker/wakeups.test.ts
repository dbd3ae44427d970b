/** Which scheduled prompts hold an answer back: local time, as Claude Code writes their schedules. */
import { describe, expect, test } from 'vitest';
import { isWakeup } from '../../../plugin/hooks/worker/wakeups.js';

const MINUTE = 60_000;
const at = (day: number, hour: number, minute: number, second = 0) =>
  new Date(2026, 10, day, hour, minute, second).getTime();
const wakes = (schedule: string, now: number, recurring = false) => isWakeup({ schedule, recurring }, now);
/** As ScheduleWakeup writes it. */
const scheduleOf = (time: number) => `${new Date(time).getMinutes()} ${new Date(time).getHours()} * * *`;

describe('rule.backgroundDefersTheAnswer: a wakeup', () => {
  test('of any minute within the hour holds the answer back, at any time of the day', () => {
    for (let now = at(30, 0, 0, 30); now < at(31, 0, 0); now += 7 * MINUTE) {
      for (let ahead = 1; ahead <= 60; ahead += 1) expect(wakes(scheduleOf(now + ahead * MINUTE), now)).toBe(true);
    }
  });

  test('that is overdue holds it back too, for as long as it was ahead', () => {
    for (let now = at(30, 0, 0, 30); now < at(31, 0, 0); now += 7 * MINUTE) {
      for (let ago = 0; ago <= 60; ago += 1) expect(wakes(scheduleOf(now - ago * MINUTE), now)).toBe(true);
    }
  });

  test('of another hour does not', () => {
    for (let now = at(30, 0, 0, 30); now < at(31, 0, 0); now += 7 * MINUTE) {
      for (let ahead = 63; ahead < 24 * 60 - 63; ahead += 13)
        expect(wakes(scheduleOf(now + ahead * MINUTE), now)).toBe(false);
    }
  });

  test('that fires a minute after its hour is still within it', () => {
    expect(wakes('1 13 * * *', at(30, 12, 0))).toBe(true);
    expect(wakes('2 13 * * *', at(30, 12, 0))).toBe(false);
  });

  test('across midnight, the month and the year is one', () => {
    expect(wakes('10 0 * * *', at(30, 23, 40))).toBe(true);
    expect(wakes('10 0 1 12 *', at(30, 23, 40))).toBe(true);
    expect(wakes('50 23 30 11 *', at(31, 0, 5))).toBe(true);
    expect(wakes('10 0 1 1 *', new Date(2026, 11, 31, 23, 40).getTime())).toBe(true);
  });

  test('pinned to a date counts on that date alone', () => {
    expect(wakes('30 12 30 11 *', at(30, 12, 0))).toBe(true);
    for (const date of ['29 11', '1 12', '30 10', '30 12', '31 11'])
      expect(wakes(`30 12 ${date} *`, at(30, 12, 0))).toBe(false);
  });

  test('that recurs holds nothing back, however near it is', () => {
    for (const schedule of ['*/1 * * * *', '30 12 * * *', '1 12 30 11 *']) {
      expect(wakes(schedule, at(30, 12, 0), true)).toBe(false);
    }
  });

  test('without a time that we can read may be any minute, so it holds the answer back', () => {
    for (const schedule of ['*/5 * * * *', '* * * * *', '', 'soon']) expect(wakes(schedule, at(30, 12, 0))).toBe(true);
  });
});
