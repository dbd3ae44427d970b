import { compareToTested, type TestedRange } from '../protocol/tested.js';
import { foreign } from './foreign.js';

/** What a reader is told of a program outside the versions that Verbatim was tested with; undefined where there is nothing to tell. */
export function driftNotice(program: string, version: string, range: TestedRange): string | undefined {
  const verdict = compareToTested(version, range);
  const tested = rangeText(range);
  switch (verdict) {
    case 'tested':
      return undefined;
    case 'older':
    case 'newer':
      return `${program} ${foreign(version)} is ${verdict} than what Verbatim was tested with (${tested}). If something looks wrong, run \`verbatim doctor\`.`;
    case 'unknown':
      return `Verbatim cannot tell the version of ${program} (${foreign(version) || 'none'}); it was tested with ${tested}.`;
  }
}

/** The versions that were tested, for a reader. */
export function rangeText({ from, to }: TestedRange): string {
  return from === to ? from : `${from} to ${to}`;
}
