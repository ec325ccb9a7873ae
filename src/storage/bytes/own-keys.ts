/**
 * Keys of what the installation keeps in a bucket for itself, beside artifacts:
 *
 *     postern/owner/<generation>.json        whose the bucket is; the highest counts
 *     postern/trash/<artifact key>/<instant>  an object that no row speaks of, until it is emptied
 *
 * None is of the artifacts' grammar, so comparing never takes one for an object.
 */
import { instant } from "../rules/values.ts";
import { ARTIFACT_FORMATS, parseObjectKey } from "../rules/object-key.ts";

export const OWN_PREFIX = "postern/";
export const OWNER_PREFIX = `${OWN_PREFIX}owner/`;
export const TRASH_PREFIX = `${OWN_PREFIX}trash/`;

const OWNER_KEY = /^postern\/owner\/([0-9]{12})\.json$/;
const TRASH_KEY = /^postern\/trash\/(v1\/.+)\/([^/]+)$/;

export function isOwnKey(key: string): boolean {
  return ownerGeneration(key) !== null || parseTrashKey(key) !== null;
}

export function ownerKey(generation: number): string {
  return `${OWNER_PREFIX}${String(generation).padStart(12, "0")}.json`;
}

/** Null for any other key. */
export function ownerGeneration(key: string): number | null {
  const digits = OWNER_KEY.exec(key)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** @param at when the object went to the trash. */
export function trashKey(key: string, at: string): string {
  return `${TRASH_PREFIX}${key}/${at.replaceAll(/[-:]/g, "")}`;
}

/** Null for any other key. */
export function parseTrashKey(own: string): { key: string; at: string } | null {
  const [, key, compact] = TRASH_KEY.exec(own) ?? [];
  if (key === undefined || compact === undefined || parseObjectKey(key).code !== "OK") return null;
  const at = compact.replace(
    /^([0-9]{4})([0-9]{2})([0-9]{2}T[0-9]{2})([0-9]{2})([0-9]{2}\.[0-9]{3}Z)$/,
    "$1-$2-$3:$4:$5",
  );
  return instant.safeParse(at).success ? { key, at } : null;
}

/**
 * What an object is stored under.
 *
 * @throws RangeError for a key of neither grammar: a fault of the caller, caught before a store sees it.
 */
export function contentTypeOf(key: string): string {
  if (ownerGeneration(key) !== null) return "application/json";
  const { parts } = parseObjectKey(parseTrashKey(key)?.key ?? key);
  if (parts === null) throw new RangeError("not a key of an artifact");
  return ARTIFACT_FORMATS[parts.kind].contentType;
}
