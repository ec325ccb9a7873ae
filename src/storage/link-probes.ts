/**
 * Tries an artifact's links before it becomes available: the good one must give
 * the bytes, and each bad one must be refused. A store that answers a tampered
 * link checks no signatures, and must not hold data.
 */
import { randomUUID } from "node:crypto";
import type { TenantPool } from "../database/tenant-pool.ts";
import { parseTenantId } from "../shared/id.ts";
import { StoreUnavailableError, type Bucket } from "./buckets/bucket.ts";
import { databasePort, toOperationCaller } from "./downloads.ts";
import { authorizeDownload } from "./operations/authorize-download.ts";
import { fromMs, toMs } from "./operations/instants.ts";
import { buildObjectKey, parseObjectKey } from "./operations/object-key.ts";
import type { StoredObject } from "./operations/stored-object.ts";
import type { ProbeName, ValidateDeliveryInput } from "./operations/validate-delivery.ts";

const ANSWER_LIMIT_MS = 30_000;
const LINK_SECONDS = 300;
/** A store found to be right is believed for so long, for artifacts that are many and small. */
const TRUST_MS = 600_000;

export type Probes = ValidateDeliveryInput["probes"];

export type LinkProbes = {
  /** Tries every link of this object. Throws StoreUnavailableError where no answer comes. */
  run(object: StoredObject, now: string): Promise<Probes>;
  /** As `run`, but for most objects with what the last trial showed of the store. */
  sample(object: StoredObject, now: string): Promise<Probes>;
};

/** @param reach from a link's URL to the one under which this process reaches it. */
export function makeLinkProbes(services: {
  bucket: Bucket;
  tenants: TenantPool;
  reach: (url: string) => string;
}): LinkProbes {
  const { bucket, tenants, reach } = services;
  let trusted: { probes: Probes; untilMs: number } | null = null;

  async function run(object: StoredObject, now: string): Promise<Probes> {
    const good = reach(await sign(object, { issuedAtMs: toMs(now), seconds: LINK_SECONDS }));
    const expired = reach(await sign(object, { issuedAtMs: toMs(now) - 3_600_000, seconds: 1 }));
    const [place = ""] = good.split("?");
    const tries: [ProbeName, string, RequestInit][] = [
      ["owner_get", good, {}],
      ["range_get", good, { headers: { range: "bytes=0-0" } }],
      ["head_with_get_url", good, { method: "HEAD" }],
      ["unsigned_get", place, {}],
      ["tampered_get", tampered(good), {}],
      ["expired_get", expired, {}],
      ["other_key_get", good.replace(object.key, otherKey(object)), {}],
    ];
    const probes: Probes = [];
    for (const [probe, url, init] of tries) probes.push({ probe, status: await statusOf(url, init) });
    return [...probes, { probe: "foreign_tenant_api", status: await askAsStranger(object, now) }];
  }

  async function sign(
    object: StoredObject,
    { issuedAtMs, seconds }: { issuedAtMs: number; seconds: number },
  ): Promise<string> {
    const { url } = await bucket.signGet({
      bucket: object.bucket,
      key: object.key,
      version_id: object.version_id,
      issued_at: fromMs(Math.floor(issuedAtMs / 1000) * 1000),
      expires_in: seconds,
      response_content_type: object.content_type,
      response_content_disposition: "attachment",
    });
    return url;
  }

  /** What the API would answer to another tenant, by the same query under the same role. */
  async function askAsStranger(object: StoredObject, now: string): Promise<number> {
    const tenantId = parseTenantId(randomUUID());
    if (tenantId === null) throw new Error("a UUID is a tenant id");
    const caller = toOperationCaller({ tenantId, subject: "probe", permissions: ["settings:read"] });
    const { output } = await authorizeDownload(
      { caller, object_id: object.id, delivery_id: object.delivery_id, now },
      { database: databasePort(tenants.of(tenantId), tenantId) },
    );
    return output.http_status;
  }

  return {
    run,
    async sample(object, now) {
      if (trusted === null || performance.now() > trusted.untilMs) {
        trusted = { probes: await run(object, now), untilMs: performance.now() + TRUST_MS };
      }
      return trusted.probes;
    },
  };
}

async function statusOf(url: string, init: RequestInit): Promise<number> {
  try {
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const answer = await fetch(url, { ...init, redirect: "manual", signal });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    throw new StoreUnavailableError("a signed link could not be tried", { cause: error });
  }
}

/** The last digit of the signature, changed. */
function tampered(url: string): string {
  return url.replace(
    /(X-Amz-Signature=[0-9a-f]*)([0-9a-f])/,
    (_whole, start: string, digit: string) => `${start}${digit === "0" ? "1" : "0"}`,
  );
}

/** A key of the same tenant that the link was not made for. */
function otherKey({ key }: StoredObject): string {
  const { parts } = parseObjectKey(key);
  if (parts === null) throw new RangeError("not a key of an artifact");
  return buildObjectKey({ ...parts, attempt: (parts.attempt % 999) + 1 });
}
