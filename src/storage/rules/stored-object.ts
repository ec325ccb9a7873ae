/** The row that Postgres keeps for an artifact, and the states it may be in. */
import * as z from "zod";
import { artifactKind } from "./object-key.ts";
import {
  attempt,
  bucketName,
  contentType,
  etag,
  instant,
  revision,
  sha256,
  sizeBytes,
  uuid,
  versionId,
} from "./values.ts";

/** `purged` is terminal; `quarantined` keeps the bytes for an operator. */
export const objectState = z.enum(["pending", "available", "missing", "quarantined", "expired", "purged"]);
export type ObjectState = z.infer<typeof objectState>;

export const storedObject = z.strictObject({
  id: uuid,
  tenant_id: uuid,
  delivery_id: uuid,
  attempt,
  kind: artifactKind,
  bucket: bucketName,
  /** Any printable key: a row written by a faulty release must still be readable. */
  key: z.string().regex(/^[!-~]{1,1024}$/),
  version_id: versionId,
  size: sizeBytes,
  etag,
  sha256,
  content_type: contentType,
  state: objectState,
  state_since: instant,
  /** When the tenant could first download it; null until then. */
  available_at: instant.nullable(),
  deadline: instant.nullable(),
  /** A legal hold suspends the deadline. */
  hold: z.boolean(),
  /** Rises by one with every update: the guard of compare-and-set. */
  revision,
});
export type StoredObject = z.infer<typeof storedObject>;
