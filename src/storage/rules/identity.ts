/** When bytes in the bucket are the bytes that a row speaks of. */
import type { HeadAnswer } from "./ports.ts";
import type { StoredObject } from "./stored-object.ts";

type FoundHead = Extract<HeadAnswer, { found: true }>;

/** A listing knows key, size and etag only; it is a hint, never proof. */
export function matchesListing(row: StoredObject, listed: { size: number; etag: string }): boolean {
  return row.size === listed.size && row.etag === listed.etag;
}

/** A head proves identity; a store that withholds version or checksum proves nothing. */
export function matchesHead(row: StoredObject, head: FoundHead): boolean {
  return (
    row.size === head.size &&
    row.etag === head.etag &&
    row.version_id === head.version_id &&
    row.sha256 === head.sha256
  );
}
