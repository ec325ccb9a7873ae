/** The endpoint's signing secret at rest: sealed for its tenant and endpoint, opened only to sign. */
import type { Db } from "../database/pool.ts";
import { ConfigError } from "../shared/config-error.ts";
import type { EndpointKey } from "../shared/id.ts";
import type { SecretBox, SecretOwner } from "../shared/secret-box.ts";
import { countSecretsByKey } from "./reseal-store.ts";

export function sealSigningSecret(box: SecretBox, secret: string, owner: EndpointKey): Buffer {
  return box.seal(secret, secretOwner(owner));
}

/** Throws SecretBoxError, naming the endpoint, when the stored form does not open. */
export function openSigningSecret(box: SecretBox, sealed: Buffer, owner: EndpointKey): string {
  return box.open(sealed, secretOwner(owner));
}

/** Stops the start when live endpoints' secrets are encrypted with keys that the ring lacks. */
export async function requireKeysInUse(db: Db, box: SecretBox): Promise<void> {
  const missing = (await countSecretsByKey(db)).filter(
    ({ keyId, isForgotten }) => !isForgotten && !box.holds(keyId),
  );
  const [first] = missing;
  if (first === undefined) return;
  const keyIds = missing.map(({ keyId }) => keyId).join(", ");
  const counts = missing.map(({ count }) => count).join(", ");
  throw new ConfigError(
    `INTEGRATION_ENCRYPTION_KEY lacks key ${keyIds}, which encrypts secrets in this database (${counts}). ` +
      "Add the former key behind a comma: the first key encrypts, all decrypt. " +
      `If it is lost for good, \`postern keys forget ${first.keyId}\` (docs/operating.md, Keys) lets Postern start without it.`,
  );
}

function secretOwner(owner: EndpointKey): SecretOwner {
  return ["signing-secret", owner.tenantId, owner.endpointId];
}
