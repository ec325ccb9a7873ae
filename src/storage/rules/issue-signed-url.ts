/**
 * A short-lived link to one version of one artifact.
 *
 * The link is a capability: its holder can download. So it is made last
 * (after ownership and after the bytes are seen), for one exact version, and it
 * outlives neither the artifact nor the credential that signs it. What the
 * signer gives back is checked before anyone sees it.
 */
import * as z from "zod";
import type { DatabasePort, HeadAnswer, SignerPort, SignGetRequest, StoragePort } from "./ports.ts";
import {
  authorizeDownloadInput,
  decideDownload,
  type AuthorizeDownloadOutput,
} from "./authorize-download.ts";
import { matchesHead } from "./identity.ts";
import { fromMs, toMs } from "./instants.ts";
import type { GrantInsert, OperationResult } from "./mutations.ts";
import { artifactFilename } from "./object-key.ts";
import { isTrustedSignedUrl, signedUrlEndpoint } from "./signed-url.ts";
import type { StoredObject } from "./stored-object.ts";
import { instant, integer, uuid } from "./values.ts";

/** Seven days: the longest life that SigV4 and GCS V4 signatures admit. */
export const MAX_SIGNED_URL_SECONDS = 604_800;

const lifetimeSeconds = integer(1, MAX_SIGNED_URL_SECONDS);

export const issueSignedUrlInput = z.strictObject({
  ...authorizeDownloadInput.shape,
  grant_id: uuid,
  ttl_seconds: lifetimeSeconds,
  max_ttl_seconds: lifetimeSeconds,
  credential_expires_at: instant.nullable(),
  endpoint: signedUrlEndpoint,
});
export type IssueSignedUrlInput = z.infer<typeof issueSignedUrlInput>;

/** Which term made the lifetime as short as it is. */
export type LifetimeLimit = "requested" | "policy" | "deadline" | "credential";

export type SignedUrlRefusal =
  | Exclude<AuthorizeDownloadOutput["code"], "ALLOW">
  | "OBJECT_MISSING"
  | "OBJECT_MISMATCH"
  | "NO_LIFETIME"
  | "SIGNER_REJECTED";

export type IssueSignedUrlOutput =
  | { code: "ISSUED"; url: string; expires_at: string; expires_in: number; limit: LifetimeLimit }
  | { code: SignedUrlRefusal; url: null; expires_at: null; expires_in: null; limit: null };

export interface IssueSignedUrlServices {
  database: DatabasePort;
  storage: StoragePort;
  signer: SignerPort;
}

/** Issues a link, or says why not; asks the ports in the order authorize, head, sign. */
export async function issueSignedUrl(
  input: IssueSignedUrlInput,
  services: IssueSignedUrlServices,
): Promise<OperationResult<IssueSignedUrlOutput, GrantInsert>> {
  const decision = await decideDownload(input, services);
  if (!decision.allowed) return refuse(decision.denial.code);
  const { object } = decision;
  const { bucket, key, version_id } = object;

  const fault = judgeBytes(object, await services.storage.head({ bucket, key, version_id }));
  if (fault !== null) return refuse(fault);

  const issuedAtMs = Math.floor(toMs(input.now) / 1000) * 1000;
  const lifetime = shortestLifetime(input, object, issuedAtMs);
  if (lifetime.seconds < 1) return refuse("NO_LIFETIME");

  const request: SignGetRequest = {
    bucket,
    key,
    version_id,
    issued_at: fromMs(issuedAtMs),
    expires_in: lifetime.seconds,
    response_content_type: object.content_type,
    response_content_disposition: `attachment; filename="${artifactFilename(object)}"`,
  };
  const { url } = await services.signer.signGet(request);
  if (!isTrustedSignedUrl(url, input.endpoint, request)) return refuse("SIGNER_REJECTED");

  const expiresAt = fromMs(issuedAtMs + lifetime.seconds * 1000);
  const grant: GrantInsert = {
    op: "insert",
    target: "grant",
    id: input.grant_id,
    object_id: object.id,
    user_id: input.caller.user_id,
    issued_at: request.issued_at,
    expires_at: expiresAt,
  };
  return {
    output: {
      code: "ISSUED",
      url,
      expires_at: expiresAt,
      expires_in: lifetime.seconds,
      limit: lifetime.limit,
    },
    mutations: [grant],
  };
}

function judgeBytes(object: StoredObject, head: HeadAnswer): "OBJECT_MISSING" | "OBJECT_MISMATCH" | null {
  if (!head.found) return "OBJECT_MISSING";
  return matchesHead(object, head) ? null : "OBJECT_MISMATCH";
}

function shortestLifetime(
  input: IssueSignedUrlInput,
  object: StoredObject,
  issuedAtMs: number,
): { seconds: number; limit: LifetimeLimit } {
  const secondsUntil = (instant: string) => Math.floor((toMs(instant) - issuedAtMs) / 1000);
  let shortest: { seconds: number; limit: LifetimeLimit } = {
    seconds: input.ttl_seconds,
    limit: "requested",
  };
  // Only a strictly shorter term takes over, so ties keep the earlier name.
  const consider = (seconds: number, limit: LifetimeLimit) => {
    if (seconds < shortest.seconds) shortest = { seconds, limit };
  };
  consider(input.max_ttl_seconds, "policy");
  if (object.deadline !== null && !object.hold) consider(secondsUntil(object.deadline), "deadline");
  if (input.credential_expires_at !== null) consider(secondsUntil(input.credential_expires_at), "credential");
  return shortest;
}

function refuse(code: SignedUrlRefusal): OperationResult<IssueSignedUrlOutput, GrantInsert> {
  return { output: { code, url: null, expires_at: null, expires_in: null, limit: null }, mutations: [] };
}
