/**
 * What a person typed in a running agent's own view.
 *
 * Claude Code 2.1.332 raises neither `session.send` nor `session.receive` for it: it stands at the agent's next tool
 * round in a transcript row of the composer's (`door: 'delivery'`), inside a frame for Claude's models.
 */
const HEAD = 'The user sent a new message while you were working:\n';
const TAIL = '\n\nThis is how Claude Code surfaces messages the user sends mid-turn';

/** The raw text inside the frame; the whole of it where the frame is not the one that is known, so that nothing is lost. */
export function typedText(framed: string): string {
  const head = framed.indexOf(HEAD);
  // The last one: what the person typed may quote the frame.
  const tail = framed.lastIndexOf(TAIL);
  return head < 0 || tail < head + HEAD.length ? framed : framed.slice(head + HEAD.length, tail);
}
