/** Hides secrets in an event before it is kept or shown. */
import type { EventBody } from '../../../plugin/hooks/protocol/event.js';

export type Mask = (text: string) => string;

/** `event` with the strings in it masked. Where an answer stands and its hash stay as they are. */
export function maskEvent<T extends EventBody>(event: T, mask: Mask): T {
  if (event.kind === 'turn_ended' && event.outcome.kind === 'completed') {
    return { ...deep(event, mask), outcome: event.outcome };
  }
  return deep(event, mask);
}

function deep<T>(value: T, mask: Mask): T {
  if (typeof value === 'string') return mask(value) as T;
  if (Array.isArray(value)) return value.map((item) => deep(item, mask)) as T;
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deep(item, mask)])) as T;
  }
  return value;
}
