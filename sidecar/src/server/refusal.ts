/** A request that is answered with an error: its status, its code for programs and its words for a reader. */
import type { ApiError, ApiErrorCode } from '../../../plugin/hooks/protocol/api.js';
import { JournalFault } from '../job/job.js';
import { DeliveryConflict } from '../job/journal.js';
import { JobTakenError } from '../job/owner.js';
import { ShapeError } from '../shape.js';
import { UnsafePathError } from '../state/private-files.js';

const STATUS = {
  unauthorized: 401,
  not_found: 404,
  method: 405,
  too_large: 413,
  invalid: 400,
  rate: 429,
  conflict: 409,
  closing: 503,
  internal: 500,
} as const satisfies Record<ApiErrorCode, number>;

export class Refusal extends Error {
  constructor(
    readonly code: ApiErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'Refusal';
  }

  get status(): number {
    return STATUS[this.code];
  }

  get body(): ApiError {
    return { error: { code: this.code, message: this.message } };
  }
}

/** The refusal for whatever a route threw; null where it is none that we know, so a fault of ours. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof JobTakenError || error instanceof DeliveryConflict)
    return new Refusal('conflict', error.message);
  if (error instanceof UnsafePathError) {
    return new Refusal('conflict', `${error.message}; remove it, or move it away, and try again`);
  }
  if (error instanceof ShapeError) return new Refusal('invalid', error.message);
  if (error instanceof JournalFault) return new Refusal('internal', error.message);
  return null;
}
