/** What `state.json` says of a job: enough to take it up again after its sidecar is gone. */

import {
  DELIVERY_WAYS,
  type Delivery,
  HARNESS_NAMES,
  type HarnessName,
  PERMISSION_MODES,
  type PermissionMode,
} from '../../../plugin/hooks/protocol/api.js';
import { choiceOf, countOf, type Fields, objectOf, ShapeError, textOf } from '../shape.js';
import { LAST_DATE, stateFieldsOf } from '../state/state-file.js';
import { ACCESS_LEVELS, type AccessLevel } from './access.js';

/** Rule of a field that holds a word or a path. */
const WORD = { max: 4096 };

export const RECORD_VERSION = 1;

/** One message to the job; its text stands in `prompts/<number>`, its number being its place in the list, from 1. */
export type MessageRecord = {
  readonly id: string;
  readonly mode: PermissionMode;
  /** The turn that it was handed to; null: it still waits. */
  readonly turn: number | null;
};

export type DeliveryRecord = Delivery & { readonly at: number };

export type JobRecord = {
  readonly version: number;
  readonly id: string;
  readonly harness: HarnessName;
  readonly harnessVersion: string;
  readonly agent: string;
  readonly session: string;
  readonly cwd: string;
  /** The model that the caller asked for; null: the harness's default. */
  readonly requestedModel: string | null;
  /** The model that the harness last named, '' before it did. */
  readonly model: string;
  readonly effort: string | null;
  readonly stallMs: number;
  readonly thread: string | null;
  /** The most that the job may do: it only ever becomes stricter. */
  readonly access: AccessLevel;
  readonly turns: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly messages: readonly MessageRecord[];
  readonly deliveries: readonly DeliveryRecord[];
};

/** The record in `text`, which stands in the folder of job `id`. Throws a ShapeError or a SyntaxError. */
export function recordOf(text: string, id: string): JobRecord {
  const fields = stateFieldsOf(text, id, RECORD_VERSION);
  return {
    version: RECORD_VERSION,
    id,
    harness: choiceOf(fields, 'harness', HARNESS_NAMES),
    harnessVersion: possiblyEmpty(fields.harnessVersion, 'harnessVersion'),
    agent: textOf(fields, 'agent', WORD),
    session: textOf(fields, 'session', WORD),
    cwd: textOf(fields, 'cwd', WORD),
    requestedModel: nullableTextOf(fields, 'requestedModel'),
    model: possiblyEmpty(fields.model, 'model'),
    effort: nullableTextOf(fields, 'effort'),
    stallMs: countOf(fields, 'stallMs', 1, Number.MAX_SAFE_INTEGER),
    thread: nullableTextOf(fields, 'thread'),
    access: choiceOf(fields, 'access', ACCESS_LEVELS),
    turns: countOf(fields, 'turns', 0, Number.MAX_SAFE_INTEGER),
    createdAt: countOf(fields, 'createdAt', 0, LAST_DATE),
    updatedAt: countOf(fields, 'updatedAt', 0, LAST_DATE),
    messages: listOf(fields.messages, 'messages', messageOf),
    deliveries: listOf(fields.deliveries, 'deliveries', deliveryOf),
  };
}

function messageOf(value: unknown, field: string): MessageRecord {
  const fields = objectOf(value, field);
  return {
    id: textOf(fields, 'id', { max: 128 }, `${field}.`),
    mode: choiceOf(fields, 'mode', [...PERMISSION_MODES, 'unknown'], `${field}.`),
    turn: fields.turn === null ? null : countOf(fields, 'turn', 1, Number.MAX_SAFE_INTEGER, `${field}.`),
  };
}

function deliveryOf(value: unknown, field: string): DeliveryRecord {
  const fields = objectOf(value, field);
  return {
    turn: countOf(fields, 'turn', 1, Number.MAX_SAFE_INTEGER, `${field}.`),
    run: textOf(fields, 'run', { max: 512 }, `${field}.`),
    how: choiceOf(fields, 'how', DELIVERY_WAYS, `${field}.`),
    at: countOf(fields, 'at', 0, Number.MAX_SAFE_INTEGER, `${field}.`),
  };
}

function listOf<T>(value: unknown, field: string, read: (item: unknown, field: string) => T): T[] {
  if (!Array.isArray(value)) throw new ShapeError(field, 'must be a list');
  return value.map((item, index) => read(item, `${field}[${index}]`));
}

function nullableTextOf(fields: Fields, name: string): string | null {
  return fields[name] === null ? null : textOf(fields, name, WORD);
}

function possiblyEmpty(value: unknown, field: string): string {
  if (typeof value !== 'string') throw new ShapeError(field, 'must be a string');
  return value;
}
