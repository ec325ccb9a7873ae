/**
 * What the service needs of a place for bytes: one bucket of an object store,
 * or a folder that behaves like one.
 *
 * Objects are written once and deleted by version, never replaced. A key is of
 * the grammar of object-key.ts or of own-keys.ts wherever one is given. Every method but `close`
 * throws {@link StoreUnavailableError} when nothing could be learned; "not
 * found" is an answer and means that the store said so.
 */
import type { Readable } from "node:stream";
import type { ListedObject } from "../rules/reconcile-types.ts";
import type { SignedUrlEndpoint } from "../rules/signed-url.ts";
import type { BucketConfig } from "../rules/validate-bucket.ts";
import type { ConfirmingStoragePort, SignerPort, StoragePort } from "../rules/ports.ts";

/** Nothing is known of the object: the store is away, refuses us, or is not the one that the row names. */
export class StoreUnavailableError extends Error {
  override readonly name = "StoreUnavailableError";
}

/**
 * Marks the version and etag of a row whose upload was never answered. The
 * rules compare both with what a store says, and no store says this.
 */
export const NOT_UPLOADED = "not-uploaded";

export type Upload = {
  key: string;
  /** Bytes. */
  size: number;
  /** Lower-case hex. */
  sha256: string;
  /** Opens the bytes; called once for each `put`. */
  open: () => Readable;
};

/** `exists`: the key is taken, by whatever bytes; nothing was written. */
export type UploadAnswer = { code: "stored"; versionId: string; etag: string } | { code: "exists" };

/** Byte offsets, both inclusive. */
export type ByteRange = { start: number; end: number };

export type StoredVersion = { key: string; versionId: string };

export type OpenedObject = { found: false } | { found: true; size: number; body: Readable };

export interface Bucket extends StoragePort, SignerPort {
  /** As rows and links name it. */
  readonly name: string;
  /** Where this bucket's links lead; what signs a link is checked against it. */
  endpoint(): SignedUrlEndpoint;
  /** When the credential that signs links ends; null where it does not. */
  credentialExpiresAt(): Promise<string | null>;
  /** Rejects bytes that are not of the size and digest told. */
  put(upload: Upload): Promise<UploadAnswer>;
  /**
   * Current objects behind `after`, ascending by key bytes.
   *
   * @param page.prefix ends with a slash. Without one, everything but the keys of own-keys.ts.
   */
  list(page: { after: string | null; limit: number; prefix?: string }): Promise<{
    objects: ListedObject[];
    isTruncated: boolean;
  }>;
  /** Every version of the artifacts whose keys have the prefix, and every mark of a deletion. */
  versions(prefix: string): AsyncIterable<StoredVersion>;
  /** The bytes of one version; without a range all of them. */
  get(request: { key: string; versionId: string; range?: ByteRange }): Promise<OpenedObject>;
  /** Deletes exactly this version; one that is gone already is deleted. */
  deleteVersion(request: { key: string; versionId: string }): Promise<void>;
  /** What `validate_bucket` judges; null where there is nothing to configure. */
  readConfig(): Promise<BucketConfig | null>;
  close(): void;
}

/** For reconciling, which continues past an object that cannot be reached now. */
export function confirmingHead(bucket: Bucket): ConfirmingStoragePort {
  return {
    async head(request) {
      try {
        return await bucket.head(request);
      } catch (error) {
        if (error instanceof StoreUnavailableError) return { error: "unavailable" };
        throw error;
      }
    },
  };
}

/** Rows may name a bucket that this process is not set up for; asking another one in its place would mislead. */
export function requireBucket(bucket: Pick<Bucket, "name">, name: string): void {
  if (name !== bucket.name) {
    throw new StoreUnavailableError(`OBJECT_STORE_URL is ${bucket.name}; the object is in ${name}`);
  }
}
