/** First stage of reconciling: which keys this page can speak of, and how row and object stand. */
import { matchesListing } from "./identity.ts";
import { parseObjectKey } from "./object-key.ts";
import type { KeyClass, ListedObject, Mark, ReconcileObjectsInput } from "./reconcile-types.ts";
import type { ObjectState, StoredObject } from "./stored-object.ts";
import { areUnique, compareBytes } from "./values.ts";

/** One key of the page with all that is known of it. */
export interface KeyFacts {
  key: string;
  row: StoredObject | undefined;
  object: ListedObject | undefined;
  mark: Mark | undefined;
}

/** A key's class together with the facts that the class implies. */
export type Classified =
  | { class: "foreign" | "consistent" }
  | { class: "object_without_row"; object: ListedObject }
  | { class: Exclude<KeyClass, "foreign" | "consistent" | "object_without_row">; row: StoredObject };

type ClassTable = Readonly<Record<ObjectState, Exclude<KeyClass, "foreign">>>;

const CLASS_WITHOUT_OBJECT: ClassTable = {
  pending: "row_without_object",
  available: "row_without_object",
  missing: "consistent",
  quarantined: "consistent",
  expired: "purged_due",
  purged: "consistent",
};

const CLASS_OF_EQUAL: ClassTable = {
  pending: "adoptable",
  available: "consistent",
  missing: "healable",
  quarantined: "healable",
  expired: "purge_due",
  purged: "object_without_row",
};

const CLASS_OF_DIFFERENT: ClassTable = {
  pending: "identity_mismatch",
  available: "identity_mismatch",
  missing: "identity_mismatch",
  quarantined: "consistent",
  expired: "purge_due",
  purged: "object_without_row",
};

/**
 * Whether the page may be judged at all. A page that is out of order, too long,
 * empty although more remains, or of another bucket, comes from a faulty query:
 * taken at its word, it would make every object an orphan.
 */
export function isLawfulPage(input: ReconcileObjectsInput): boolean {
  const { batch_size } = input.run;
  const sides = [
    { keys: input.rows.map(({ key }) => key), isTruncated: input.rows_truncated },
    { keys: input.objects.map(({ key }) => key), isTruncated: input.objects_truncated },
  ];
  return (
    sides.every(
      ({ keys, isTruncated }) =>
        keys.length <= batch_size && isAscending(keys, input.after) && !(isTruncated && keys.length === 0),
    ) &&
    input.rows.every(({ bucket }) => bucket === input.bucket) &&
    areUnique(input.marks.map(({ key }) => key))
  );
}

function isAscending(keys: readonly string[], after: string | null): boolean {
  let previous = after;
  return keys.every((key) => {
    const isNext = previous === null || compareBytes(previous, key) < 0;
    previous = key;
    return isNext;
  });
}

/** The last key of which both sides are known; null where both were read to their end. */
export function findHorizon(
  sides: Pick<ReconcileObjectsInput, "rows" | "rows_truncated" | "objects" | "objects_truncated">,
): string | null {
  const ends = [
    sides.rows_truncated ? sides.rows.at(-1)?.key : undefined,
    sides.objects_truncated ? sides.objects.at(-1)?.key : undefined,
  ].filter((key) => key !== undefined);
  return ends.toSorted(compareBytes)[0] ?? null;
}

/** Joins rows, objects and marks by key, ascending, after the cursor and up to the horizon. */
export function joinKeys(input: ReconcileObjectsInput, horizon: string | null): KeyFacts[] {
  const rows = new Map(input.rows.map((row) => [row.key, row]));
  const objects = new Map(input.objects.map((object) => [object.key, object]));
  const marks = new Map(input.marks.map((mark) => [mark.key, mark]));
  const isJudged = (key: string) =>
    (input.after === null || compareBytes(key, input.after) > 0) &&
    (horizon === null || compareBytes(key, horizon) <= 0);
  return [...new Set([...rows.keys(), ...objects.keys(), ...marks.keys()])]
    .filter(isJudged)
    .toSorted(compareBytes)
    .map((key) => ({ key, row: rows.get(key), object: objects.get(key), mark: marks.get(key) }));
}

/** Classifies one key. A key that is not of our grammar is foreign, whatever its object. */
export function classify({ key, row, object }: KeyFacts): Classified {
  if (parseObjectKey(key).code !== "OK") return { class: "foreign" };
  if (row === undefined) {
    return object === undefined ? { class: "consistent" } : { class: "object_without_row", object };
  }
  if (object === undefined) return withFacts(CLASS_WITHOUT_OBJECT[row.state], row, object);
  if (!matchesListing(row, object)) return withFacts(CLASS_OF_DIFFERENT[row.state], row, object);
  const found = CLASS_OF_EQUAL[row.state];
  // What was never available has not passed the delivery gate, and healing
  // must not become a way around it.
  const isUngated = found === "healable" && row.available_at === null;
  return withFacts(isUngated ? "consistent" : found, row, object);
}

function withFacts(
  found: Exclude<KeyClass, "foreign">,
  row: StoredObject,
  object: ListedObject | undefined,
): Classified {
  if (found === "consistent") return { class: found };
  if (found === "object_without_row")
    return object === undefined ? { class: "consistent" } : { class: found, object };
  return { class: found, row };
}
