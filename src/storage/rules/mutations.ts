/**
 * What an operation asks its caller to change.
 *
 * Operations change nothing themselves. They return this ordered list, which an
 * adapter applies in one transaction (object deletions after its commit). A row
 * update carries the value it replaces and the row's revision, so applying it
 * twice or too late changes nothing.
 */
import type { ObjectState } from "./stored-object.ts";

/** Every change of state that any operation may ask for; `purged` is terminal. */
export const STATE_TRANSITIONS = {
  pending: ["available", "missing", "quarantined"],
  available: ["missing", "quarantined", "expired"],
  missing: ["quarantined", "available", "expired"],
  quarantined: ["available"],
  expired: ["purged"],
  purged: [],
} as const satisfies Record<ObjectState, readonly ObjectState[]>;

/** A state update also sets `state_since` to now; every row update raises `revision`. */
export interface StateUpdate {
  op: "update";
  target: "row";
  id: string;
  field: "state";
  from: ObjectState;
  to: ObjectState;
  revision: number;
}

export interface InstantUpdate {
  op: "update";
  target: "row";
  id: string;
  field: "available_at" | "deadline";
  from: string | null;
  to: string;
  revision: number;
}

/** What a mark suspects of a key. */
export type MarkClass = "adoptable" | "row_without_object" | "object_without_row" | "identity_mismatch";

export type MarkMutation =
  | { op: "insert"; target: "mark"; key: string; class: MarkClass; first_seen_at: string; run_id: string }
  | { op: "update"; target: "mark"; key: string; class: MarkClass; first_seen_at: string }
  | { op: "delete"; target: "mark"; key: string; class: MarkClass };

/** Deletes exactly this version, never "the object of that name". */
export interface ObjectDelete {
  op: "delete";
  target: "object";
  bucket: string;
  key: string;
  version_id: string;
}

/** The audit record of a signed link; the link itself is never stored. */
export interface GrantInsert {
  op: "insert";
  target: "grant";
  id: string;
  object_id: string;
  user_id: string;
  issued_at: string;
  expires_at: string;
}

export type Mutation = StateUpdate | InstantUpdate | MarkMutation | ObjectDelete | GrantInsert;

/** What every operation gives back. */
export interface OperationResult<Output, Change extends Mutation = never> {
  output: Output;
  mutations: Change[];
}

interface RowOfUpdate {
  id: string;
  state: ObjectState;
  revision: number;
}

/**
 * Moves a row to another state.
 *
 * @throws RangeError where the transition is none of {@link STATE_TRANSITIONS}: a fault of the caller.
 */
export function moveState(row: RowOfUpdate, to: ObjectState): StateUpdate {
  const allowed: readonly ObjectState[] = STATE_TRANSITIONS[row.state];
  if (!allowed.includes(to)) throw new RangeError(`no transition from ${row.state} to ${to}`);
  const { id, state: from, revision } = row;
  return { op: "update", target: "row", id, field: "state", from, to, revision };
}
