/**
 * What the storage operations ask of the world.
 *
 * A port answers or throws. A thrown error means that nothing is known, and the
 * operation passes it on unchanged: nothing is signed and nothing is changed.
 */
import type { StoredObject } from "./stored-object.ts";

export interface AuthorizeRequest {
  tenant_id: string;
  user_id: string;
  object_id: string;
  delivery_id: string;
  action: "download";
}

/** The row and its delivery as stored. Whose they are is judged by the caller of the port, whatever the query did. */
export type AuthorizeAnswer =
  | { found: false }
  | { found: true; object: StoredObject; delivery: { id: string; tenant_id: string } };

export interface DatabasePort {
  authorize(request: AuthorizeRequest): Promise<AuthorizeAnswer>;
}

export interface SignGetRequest {
  bucket: string;
  key: string;
  version_id: string;
  /** A whole second: signature dates have no fraction. */
  issued_at: string;
  /** Seconds, 1 to 604,800. */
  expires_in: number;
  response_content_type: string;
  response_content_disposition: string;
}

export interface SignerPort {
  /** A path-style link with the `X-Amz-*` query names, at most 2,048 characters. */
  signGet(request: SignGetRequest): Promise<{ url: string }>;
}

export interface HeadRequest {
  bucket: string;
  key: string;
  /** Null asks for the current version. */
  version_id: string | null;
}

export type HeadAnswer =
  | { found: false }
  | {
      found: true;
      size: number;
      etag: string;
      version_id: string | null;
      sha256: string | null;
      content_type: string;
      last_modified: string;
    };

export interface StoragePort {
  head(request: HeadRequest): Promise<HeadAnswer>;
}

/** Reconciling continues past an object that cannot be reached now; other callers get a thrown error. */
export interface ConfirmingStoragePort {
  head(request: HeadRequest): Promise<HeadAnswer | { error: "unavailable" }>;
}
