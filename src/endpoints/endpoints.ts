/** What a tenant's user does with endpoints. Each function refuses with a {@link Refusal}. */
import { recordDone } from "../audit/audit.ts";
import type { Caller } from "../audit/audit-entry.ts";
import { maskUrl } from "../audit/mask-url.ts";
import type { UrlRefusals } from "../audit/url-refusals.ts";
import type { Db } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import type { Guard } from "../outbound/guard.ts";
import { generateSigningSecret } from "../outbound/signature.ts";
import { newEndpointId, type EndpointId, type EndpointKey, type TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { SecretBoxError, type SecretBox } from "../shared/secret-box.ts";
import type { Endpoint, EndpointChange } from "./endpoint.ts";
import {
  findEndpoint,
  findHealth,
  insertEndpoint,
  listEndpoints,
  lockHeaders,
  lockSecret,
  lockTenantEndpoints,
  replaceSecret,
  softDeleteEndpoint,
  updateEndpoint,
} from "./endpoint-store.ts";
import { followChange, type Following } from "./follow-change.ts";
import { openSigningSecret, sealSigningSecret } from "./signing-secret.ts";
import { changeHeaders, NO_HEADERS, type StoredHeaders } from "./static-headers.ts";

export type EndpointServices = Following & {
  tenants: TenantPool;
  guard: Pick<Guard, "parse" | "checkUrl">;
  secretBox: SecretBox;
  maxEndpointsPerTenant: number;
  refusals: UrlRefusals;
};

type NewEndpointInput = EndpointChange & { url: string; temporary?: boolean | undefined } & OwnSecret;

/** One that the tenant brings along; without it one is made. */
type OwnSecret = { secret?: string | null | undefined };

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

  async health(tenantId: TenantId, id: EndpointId | null) {
    const { tenants } = this.#services;
    const health = id === null ? null : await findHealth(tenants.of(tenantId), tenantId, id);
    if (id === null || health === null) throw new Refusal("not_found");
    return { ...health, endpointId: id };
  }

  /** Answers the endpoint and, this once, its secret in plaintext. */
  async create(caller: Caller, input: NewEndpointInput) {
    const { tenants, secretBox, maxEndpointsPerTenant } = this.#services;
    const { tenantId } = caller;
    const url = await this.#requireSafeUrl(caller, null, input.url);
    const id = newEndpointId();
    const secret = input.secret ?? generateSigningSecret();
    const owner = { tenantId, endpointId: id };
    const stored = changeHeaders(secretBox, owner, NO_HEADERS, input);
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
        mode: input.mode ?? "push",
        temporary: input.temporary ?? false,
        rateLimit: input.rate_limit ?? null,
        stored,
        metadata: input.metadata ?? {},
        secret: sealSigningSecret(secretBox, secret, owner),
      });
      const details = { url: maskUrl(url), events: inserted.events, enabled: inserted.enabled };
      await recordDone(transaction, caller, { action: "endpoint.created", endpointId: id, details });
      return inserted;
    });
    return { endpoint, secret };
  }

  async update(caller: Caller, id: EndpointId | null, change: EndpointChange): Promise<Endpoint> {
    const { tenants, secretBox } = this.#services;
    const { tenantId } = caller;
    const url = change.url === undefined ? undefined : await this.#requireSafeUrl(caller, id, change.url);
    const isEmpty = Object.values(change).every((value) => value === undefined);
    if (id === null || isEmpty) return this.get(tenantId, id);
    const endpoint = await tenants.of(tenantId).transaction(async (transaction) => {
      const { headers, masked_headers, ...plain } = change;
      let stored: StoredHeaders | undefined;
      if (headers !== undefined || masked_headers !== undefined) {
        const former = await lockHeaders(transaction, tenantId, id);
        if (former === null) return null;
        stored = changeHeaders(secretBox, { tenantId, endpointId: id }, former, change);
      }
      if (change.mode === "push") await requireLasting(transaction, tenantId, id);
      const changed = await updateEndpoint(transaction, tenantId, id, { ...plain, url, stored });
      if (changed === null) return null;
      await recordChange(transaction, caller, id, { ...change, url });
      return changed;
    });
    if (endpoint === null) throw new Refusal("not_found");
    if (change.enabled !== undefined || change.mode !== undefined)
      await followChange(this.#services, { tenantId, endpointId: id });
    return endpoint;
  }

  async remove(caller: Caller, id: EndpointId | null): Promise<void> {
    const { tenants } = this.#services;
    const { tenantId } = caller;
    const removed =
      id !== null &&
      (await tenants.of(tenantId).transaction(async (transaction) => {
        const existed = await softDeleteEndpoint(transaction, tenantId, id);
        if (!existed) return false;
        await recordDone(transaction, caller, { action: "endpoint.deleted", endpointId: id, details: {} });
        return true;
      }));
    if (!removed) throw new Refusal("not_found");
    await followChange(this.#services, { tenantId, endpointId: id });
  }

  async rotateSecret(
    caller: Caller,
    id: EndpointId | null,
    { graceSeconds: asked, secret: own }: { graceSeconds: number } & OwnSecret,
  ): Promise<string> {
    const { tenants, secretBox } = this.#services;
    const { tenantId } = caller;
    const secret = own ?? generateSigningSecret();
    const replaced =
      id !== null &&
      (await tenants.of(tenantId).transaction(async (transaction) => {
        const owner = { tenantId, endpointId: id };
        const former = asked > 0 ? await lockSecret(transaction, tenantId, id) : null;
        // A former secret that does not open would keep all requests back for as long as it is to sign them too.
        const graceSeconds = former !== null && opens(secretBox, former, owner) ? asked : 0;
        const sealed = sealSigningSecret(secretBox, secret, owner);
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
    const verdict = await judgeUrl(guard, text);
    if ("href" in verdict) return verdict.href;
    const operation = id === null ? "create" : "update";
    await refusals.refused(caller, { endpointId: id, operation, url: text, rule: verdict.rule });
    throw new Refusal("unsafe_url");
  }
}

function opens(secretBox: SecretBox, sealed: Buffer, owner: EndpointKey): boolean {
  try {
    openSigningSecret(secretBox, sealed, owner);
    return true;
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    return false;
  }
}

async function judgeUrl(
  guard: EndpointServices["guard"],
  text: string,
): Promise<{ href: string } | { rule: string }> {
  const parsed = guard.parse(text);
  if (!parsed.ok) return { rule: parsed.rule };
  const verdict = await guard.checkUrl(text);
  return verdict === "safe" ? { href: parsed.url.href } : { rule: verdict.unsafe };
}

/** It is temporary from its creation on, or never. */
async function requireLasting(transaction: Db, tenantId: TenantId, id: EndpointId): Promise<void> {
  const endpoint = await findEndpoint(transaction, tenantId, id);
  if (endpoint?.temporary === true) throw new Refusal("endpoint_temporary");
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
