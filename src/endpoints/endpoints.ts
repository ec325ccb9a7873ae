/** What a tenant's user does with endpoints. Each function refuses with a {@link Refusal}. */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { DispatchHold } from "../dispatch/queue.ts";
import type { Guard } from "../outbound/guard.ts";
import { generateSigningSecret } from "../outbound/signature.ts";
import { newEndpointId, type EndpointId, type TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { SecretBox } from "../shared/secret-box.ts";
import type { Endpoint, EndpointChange } from "./endpoint.ts";
import {
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockTenantEndpoints,
  replaceSecret,
  softDeleteEndpoint,
  updateEndpoint,
} from "./endpoint-store.ts";
import { sealSigningSecret } from "./signing-secret.ts";

export type EndpointServices = {
  tenants: TenantPool;
  guard: Pick<Guard, "parse" | "checkUrl">;
  secretBox: SecretBox;
  maxEndpointsPerTenant: number;
  /** What happens to pending dispatches when their endpoint changes. */
  dispatches: DispatchHold;
};

export type Endpoints = ReturnType<typeof makeEndpoints>;

export function makeEndpoints(services: EndpointServices) {
  const { tenants, guard, secretBox, dispatches } = services;

  /** The URL as it is kept: as sent, less a fragment. */
  async function requireSafeUrl(text: string): Promise<string> {
    const verdict = guard.parse(text);
    if (!verdict.ok || (await guard.checkUrl(text)) !== "safe") throw new Refusal("unsafe_url");
    return verdict.url.href;
  }

  async function list(tenantId: TenantId): Promise<Endpoint[]> {
    return listEndpoints(tenants.of(tenantId), tenantId);
  }

  async function get(tenantId: TenantId, id: EndpointId | null): Promise<Endpoint> {
    const endpoint = id === null ? null : await findEndpoint(tenants.of(tenantId), tenantId, id);
    if (endpoint === null) throw new Refusal("not_found");
    return endpoint;
  }

  /** Answers the endpoint and, this once, its secret in plaintext. */
  async function create(tenantId: TenantId, input: EndpointChange & { url: string }) {
    const url = await requireSafeUrl(input.url);
    const id = newEndpointId();
    const secret = generateSigningSecret();
    const endpoint = await tenants.of(tenantId).transaction(async (transaction) => {
      const count = await lockTenantEndpoints(transaction, tenantId);
      if (count >= services.maxEndpointsPerTenant) throw new Refusal("endpoint_limit_reached");
      return insertEndpoint(transaction, {
        tenantId,
        id,
        url,
        events: input.events ?? ["*"],
        description: input.description ?? null,
        enabled: input.enabled ?? true,
        rateLimit: input.rate_limit ?? null,
        headers: input.headers ?? {},
        metadata: input.metadata ?? {},
        secret: sealSigningSecret(secretBox, secret, { tenantId, endpointId: id }),
      });
    });
    return { endpoint, secret };
  }

  async function update(
    tenantId: TenantId,
    id: EndpointId | null,
    change: EndpointChange,
  ): Promise<Endpoint> {
    const url = change.url === undefined ? undefined : await requireSafeUrl(change.url);
    const isEmpty = Object.values(change).every((value) => value === undefined);
    if (id === null || isEmpty) return get(tenantId, id);
    const endpoint = await tenants.of(tenantId).transaction(async (transaction) => {
      const changed = await updateEndpoint(transaction, tenantId, id, { ...change, url });
      if (changed !== null && change.enabled === true) await dispatches.resume(transaction, tenantId, id);
      if (changed !== null && change.enabled === false) await dispatches.holdAll(transaction, tenantId, id);
      return changed;
    });
    if (endpoint === null) throw new Refusal("not_found");
    return endpoint;
  }

  async function remove(tenantId: TenantId, id: EndpointId | null): Promise<void> {
    const removed =
      id !== null &&
      (await tenants.of(tenantId).transaction(async (transaction) => {
        const existed = await softDeleteEndpoint(transaction, tenantId, id);
        if (existed) await dispatches.endAll(transaction, tenantId, id);
        return existed;
      }));
    if (!removed) throw new Refusal("not_found");
  }

  async function rotateSecret(
    tenantId: TenantId,
    id: EndpointId | null,
    graceSeconds: number,
  ): Promise<string> {
    const secret = generateSigningSecret();
    const replaced =
      id !== null &&
      (await replaceSecret(tenants.of(tenantId), tenantId, id, {
        secret: sealSigningSecret(secretBox, secret, { tenantId, endpointId: id }),
        graceSeconds,
      }));
    if (!replaced) throw new Refusal("not_found");
    return secret;
  }

  return { list, get, create, update, remove, rotateSecret };
}
