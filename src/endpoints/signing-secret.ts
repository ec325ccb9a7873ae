/** The endpoint's signing secret at rest: sealed for its tenant and endpoint, opened only to sign. */
import type { EndpointId, TenantId } from "../shared/id.ts";
import type { SecretBox, SecretOwner } from "../shared/secret-box.ts";

type Owner = { tenantId: TenantId; endpointId: EndpointId };

export function sealSigningSecret(box: SecretBox, secret: string, owner: Owner): Buffer {
  return box.seal(secret, secretOwner(owner));
}

/** Throws SecretBoxError, naming the endpoint, when the stored form does not open. */
export function openSigningSecret(box: SecretBox, sealed: Buffer, owner: Owner): string {
  return box.open(sealed, secretOwner(owner));
}

function secretOwner(owner: Owner): SecretOwner {
  return ["signing-secret", owner.tenantId, owner.endpointId];
}
