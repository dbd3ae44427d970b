/**
 * The mod-answer contract: how a worker session answers the task it was handed (docs/mod-answer.md).
 *
 * `POST http://127.0.0.1:${LICH_PORT}/mod/answer?token=${LICH_TOKEN}`. The wire format is lich's, as its repository
 * documented it in 2026-11; both sides are tested against docs/fixtures/mod-answer.jsonl.
 */

export const ANSWER_PATH = '/mod/answer';
/** The header that names the version of the plugin that reports. */
export const PLUGIN_HEADER = 'x-lich-plugin';

/** Largest body of a report, in bytes. */
export const REPORT_LIMIT = 65_536;
/** UTF-16 units of a text that are kept; TRUNCATED follows where there were more. */
export const TEXT_LIMIT = 16_000;
export const TRUNCATED = '\n[truncated]';

/** Why a worker that ended its turn has no text. This plugin reports `blank` alone (docs/mod-answer.md says why). */
export const UNANSWERED = ['blank', 'error', 'refusal'] as const;
export type Unanswered = (typeof UNANSWERED)[number];

/** What is reported: the session that the orchestrator named in LICH_SESSION_ID, and exactly one of the two. */
export type Report =
  | { readonly session_id: string; readonly text: string; readonly unanswered?: undefined }
  | { readonly session_id: string; readonly text?: undefined; readonly unanswered: Unanswered };

/** Whether nobody could read anything in it: white space as JavaScript and as Go (U+0085) have it. */
export function isBlank(text: string): boolean {
  return /^[\s\u0085]*$/.test(text);
}

/** The report's body, its text cut where it is too long, never inside a surrogate pair; always below REPORT_LIMIT. */
export function bodyOf(report: Report): string {
  if (report.text === undefined) return JSON.stringify(report);
  const { session_id, text } = report;
  const whole = JSON.stringify({ session_id, text });
  if (text.length <= TEXT_LIMIT && bytesOf(whole) < REPORT_LIMIT) return whole;
  const cut = (end: number) =>
    JSON.stringify({ session_id, text: `${text.slice(0, isInsidePair(text, end) ? end - 1 : end)}${TRUNCATED}` });
  // JSON needs up to six bytes for a unit: the longest beginning that fits is looked for by halves.
  let fits = 0;
  let over = Math.min(text.length, TEXT_LIMIT) + 1;
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (bytesOf(cut(middle)) < REPORT_LIMIT) fits = middle;
    else over = middle;
  }
  return cut(fits);
}

/** Whether a reported text was cut: it ends with the mark, and no more would have fitted before it. */
export function isCut({ session_id, text = '' }: Report): boolean {
  if (!text.endsWith(TRUNCATED)) return false;
  const kept = text.length - TRUNCATED.length;
  // One more character is up to two units, or twelve bytes.
  return kept >= TEXT_LIMIT - 1 || bytesOf(JSON.stringify({ session_id, text })) >= REPORT_LIMIT - 12;
}

function isInsidePair(text: string, at: number): boolean {
  return isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(at), 0xdc00, 0xdfff);
}

/** Bytes of a text in UTF-8; the plugin's world has no Buffer. JSON leaves no lone surrogate. */
function bytesOf(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Each half of a pair is two of its four bytes.
    if (unit >= 0x80) bytes += unit >= 0x800 && !isBetween(unit, 0xd800, 0xdfff) ? 2 : 1;
  }
  return bytes;
}

function isBetween(unit: number, from: number, to: number): boolean {
  return unit >= from && unit <= to;
}
