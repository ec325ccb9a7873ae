/** An endpoint made ready to be sent to: its secrets opened into signing keys. */
import type { Db } from "../database/pool.ts";
import { maskedNames } from "../outbound/request-headers.ts";
import { makeSigningKey, type SigningKey } from "../outbound/signature.ts";
import type { EndpointKey, TenantId } from "../shared/id.ts";
import type { SecretBox } from "../shared/secret-box.ts";
import type { EndpointTarget } from "./endpoint.ts";
import { listEndpoints, loadTargets, lockEndpoint } from "./endpoint-store.ts";
import { openSigningSecret } from "./signing-secret.ts";
import { openHeaders } from "./static-headers.ts";

type Sealed = "secret" | "previousSecret" | "maskedHeaders" | "sealedHeaders";

export type SendTarget = Omit<EndpointTarget, Sealed> & {
  /** Names of headers, in lower case, whose values no log shows. */
  masked: ReadonlySet<string>;
  /** The current secret's key, then the previous one's while a grace period runs. */
  signingKeys: readonly [SigningKey, ...SigningKey[]];
};

/** Reads the endpoints that still exist as they are stored, secrets sealed. */
export async function readStoredTargets(db: Db, keys: readonly EndpointKey[]): Promise<EndpointTarget[]> {
  return loadTargets(db, keys);
}

/** Null for an endpoint that does not exist; throws SecretBoxError when its secret does not open. */
export async function readSendTarget(
  db: Db,
  secretBox: SecretBox,
  key: EndpointKey,
): Promise<SendTarget | null> {
  const [stored] = await loadTargets(db, [key]);
  return stored === undefined ? null : openTarget(stored, secretBox);
}

/**
 * The endpoint as it is stored, within a transaction until whose end it stays
 * so: what is added for it follows a later change. Null where there is none.
 */
export async function lockTarget(transaction: Db, key: EndpointKey): Promise<EndpointTarget | null> {
  if (!(await lockEndpoint(transaction, key))) return null;
  const [stored] = await loadTargets(transaction, [key]);
  return stored ?? null;
}

/** {@link lockTarget}, ready to be sent to; throws SecretBoxError when its secret does not open. */
export async function lockSendTarget(
  transaction: Db,
  secretBox: SecretBox,
  key: EndpointKey,
): Promise<SendTarget | null> {
  const stored = await lockTarget(transaction, key);
  return stored === null ? null : openTarget(stored, secretBox);
}

/** The current secret of each of a tenant's endpoints: for a receiver that runs beside Postern, as in the demonstration. */
export async function readTenantSecrets(db: Db, secretBox: SecretBox, tenantId: TenantId): Promise<string[]> {
  const endpoints = await listEndpoints(db, tenantId);
  const stored = await loadTargets(
    db,
    endpoints.map(({ id }) => ({ tenantId, endpointId: id })),
  );
  return stored.map((target) => openSigningSecret(secretBox, target.secret, target));
}

export function openTarget(stored: EndpointTarget, secretBox: SecretBox): SendTarget {
  const { secret, previousSecret, maskedHeaders, sealedHeaders: _sealed, ...plain } = stored;
  const headers = openHeaders(secretBox, stored, stored);
  const rest = { ...plain, headers, masked: maskedNames(maskedHeaders) };
  const current = makeSigningKey(openSigningSecret(secretBox, secret, stored));
  if (previousSecret === null) return { ...rest, signingKeys: [current] };
  return {
    ...rest,
    signingKeys: [current, makeSigningKey(openSigningSecret(secretBox, previousSecret, stored))],
  };
}
