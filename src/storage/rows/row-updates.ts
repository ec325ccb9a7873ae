/** Gathers what an operation asks of each row, since one row is changed by one statement. */
import type { InstantUpdate, Mutation, StateUpdate } from "../rules/mutations.ts";
import type { ObjectState } from "../rules/stored-object.ts";

type Change<Value> = { from: Value | null; to: Value };

/** Everything that changes in one row, and the revision at which all of it was decided. */
export type RowUpdate = {
  id: string;
  revision: number;
  state: Change<ObjectState> | null;
  availableAt: Change<string> | null;
  deadline: Change<string> | null;
};

/**
 * One update for each row, in the order in which the rows are first named.
 *
 * @throws Error where updates of one row name different revisions or a field twice: the operation is at fault.
 */
export function gatherRowUpdates(mutations: readonly Mutation[]): RowUpdate[] {
  const updates = new Map<string, RowUpdate>();
  for (const mutation of mutations) {
    if (mutation.target !== "row") continue;
    const { id, revision } = mutation;
    const update = updates.get(id) ?? { id, revision, state: null, availableAt: null, deadline: null };
    if (update.revision !== revision) throw new Error(`two revisions of object ${id} in one result`);
    add(update, mutation);
    updates.set(id, update);
  }
  return [...updates.values()];
}

function add(update: RowUpdate, mutation: StateUpdate | InstantUpdate): void {
  if (mutation.field === "state") {
    if (update.state !== null) throw twice(mutation);
    update.state = { from: mutation.from, to: mutation.to };
    return;
  }
  const member = mutation.field === "deadline" ? "deadline" : "availableAt";
  if (update[member] !== null) throw twice(mutation);
  update[member] = { from: mutation.from, to: mutation.to };
}

function twice(mutation: StateUpdate | InstantUpdate): Error {
  return new Error(`${mutation.field} of object ${mutation.id} twice in one result`);
}
