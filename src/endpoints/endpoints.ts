/** What a tenant's user does with endpoints. Each function refuses with a {@link Refusal}. */
import { recordDone } from "../audit/audit.ts";
import type { Caller } from "../audit/audit-entry.ts";
import { maskUrl } from "../audit/mask-url.ts";
import type { UrlRefusals } from "../audit/url-refusals.ts";
import type { Db } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import type { DispatchHold } from "../queue/queue.ts";
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
import { followState } from "./follow-state.ts";
import { sealSigningSecret } from "./signing-secret.ts";

export type EndpointServices = {
  tenants: TenantPool;
  guard: Pick<Guard, "parse" | "checkUrl">;
  secretBox: SecretBox;
  maxEndpointsPerTenant: number;
  /** What happens to pending dispatches when their endpoint changes. */
  dispatches: DispatchHold;
  refusals: UrlRefusals;
};

export class Endpoints {
  readonly #services: EndpointServices;

  constructor(services: EndpointServices) {
    this.#services = services;
  }

  async list(tenantId: TenantId): Promise<Endpoint[]> {
    const { tenants } = this.#services;
    return listEndpoints(tenants.of(tenantId), tenantId);
  }

  async get(tenantId: TenantId, id: EndpointId | null): Promise<Endpoint> {
    const { tenants } = this.#services;
    const endpoint = id === null ? null : await findEndpoint(tenants.of(tenantId), tenantId, id);
    if (endpoint === null) throw new Refusal("not_found");
    return endpoint;
  }

  /** Answers the endpoint and, this once, its secret in plaintext. */
  async create(caller: Caller, input: EndpointChange & { url: string }) {
    const { tenants, secretBox, maxEndpointsPerTenant } = this.#services;
    const { tenantId } = caller;
    const url = await this.#requireSafeUrl(caller, null, input.url);
    const id = newEndpointId();
    const secret = generateSigningSecret();
    const endpoint = await tenants.of(tenantId).transaction(async (transaction) => {
      const count = await lockTenantEndpoints(transaction, tenantId);
      if (count >= maxEndpointsPerTenant) throw new Refusal("endpoint_limit_reached");
      const inserted = await insertEndpoint(transaction, {
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
      const details = { url: maskUrl(url), events: inserted.events, enabled: inserted.enabled };
      await recordDone(transaction, caller, { action: "endpoint.created", endpointId: id, details });
      return inserted;
    });
    return { endpoint, secret };
  }

  async update(caller: Caller, id: EndpointId | null, change: EndpointChange): Promise<Endpoint> {
    const { tenants, dispatches } = this.#services;
    const { tenantId } = caller;
    const url = change.url === undefined ? undefined : await this.#requireSafeUrl(caller, id, change.url);
    const isEmpty = Object.values(change).every((value) => value === undefined);
    if (id === null || isEmpty) return this.get(tenantId, id);
    const endpoint = await tenants.of(tenantId).transaction(async (transaction) => {
      const changed = await updateEndpoint(transaction, tenantId, id, { ...change, url });
      if (changed === null) return null;
      if (change.enabled !== undefined) {
        const state = change.enabled ? "enabled" : "disabled";
        await followState(transaction, dispatches, { tenantId, endpointId: id }, state);
      }
      await recordChange(transaction, caller, id, { ...change, url });
      return changed;
    });
    if (endpoint === null) throw new Refusal("not_found");
    return endpoint;
  }

  async remove(caller: Caller, id: EndpointId | null): Promise<void> {
    const { tenants, dispatches } = this.#services;
    const { tenantId } = caller;
    const removed =
      id !== null &&
      (await tenants.of(tenantId).transaction(async (transaction) => {
        const existed = await softDeleteEndpoint(transaction, tenantId, id);
        if (!existed) return false;
        await followState(transaction, dispatches, { tenantId, endpointId: id }, "deleted");
        await recordDone(transaction, caller, { action: "endpoint.deleted", endpointId: id, details: {} });
        return true;
      }));
    if (!removed) throw new Refusal("not_found");
  }

  async rotateSecret(caller: Caller, id: EndpointId | null, graceSeconds: number): Promise<string> {
    const { tenants, secretBox } = this.#services;
    const { tenantId } = caller;
    const secret = generateSigningSecret();
    const replaced =
      id !== null &&
      (await tenants.of(tenantId).transaction(async (transaction) => {
        const sealed = sealSigningSecret(secretBox, secret, { tenantId, endpointId: id });
        if (!(await replaceSecret(transaction, tenantId, id, { secret: sealed, graceSeconds }))) return false;
        const details = { grace_seconds: graceSeconds };
        await recordDone(transaction, caller, { action: "secret.rotated", endpointId: id, details });
        return true;
      }));
    if (!replaced) throw new Refusal("not_found");
    return secret;
  }

  /** The URL as it is kept: as sent, less a fragment. */
  async #requireSafeUrl(caller: Caller, id: EndpointId | null, text: string): Promise<string> {
    const { guard, refusals } = this.#services;
    const parsed = guard.parse(text);
    const verdict = parsed.ok ? await guard.checkUrl(text) : { unsafe: parsed.rule };
    if (parsed.ok && verdict === "safe") return parsed.url.href;
    const operation = id === null ? "create" : "update";
    const rule = verdict === "safe" ? "" : verdict.unsafe;
    await refusals.refused(caller, { endpointId: id, operation, url: text, rule });
    throw new Refusal("unsafe_url");
  }
}

/** Switching an endpoint on or off is told apart from what else was changed; of that only the names, and the URL. */
async function recordChange(
  transaction: Db,
  caller: Caller,
  endpointId: EndpointId,
  { enabled, ...change }: EndpointChange,
): Promise<void> {
  const fields = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  fields.sort();
  if (fields.length > 0) {
    const details = { fields, ...(change.url === undefined ? {} : { url: maskUrl(change.url) }) };
    await recordDone(transaction, caller, { action: "endpoint.updated", endpointId, details });
  }
  if (enabled === undefined) return;
  const action = enabled ? "endpoint.enabled" : "endpoint.disabled";
  const details = enabled ? {} : { reason: "manual" };
  await recordDone(transaction, caller, { action, endpointId, details });
}
