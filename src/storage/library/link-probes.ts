/**
 * Tries an artifact's links before it becomes available: the good one must give
 * the bytes, and each bad one must be refused. A store that answers a tampered
 * link checks no signatures, and must not hold data.
 */
import { randomUUID } from "node:crypto";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { parseTenantId } from "../../shared/id.ts";
import { reasonOf } from "../../shared/message-of.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { databasePort, toOperationCaller } from "./downloads.ts";
import { authorizeDownload } from "../rules/authorize-download.ts";
import { fromMs, toMs } from "../rules/instants.ts";
import { buildObjectKey, parseObjectKey } from "../rules/object-key.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { REQUIRED_PROBES, type ProbeName, type ValidateDeliveryInput } from "../rules/validate-delivery.ts";

const ANSWER_LIMIT_MS = 30_000;
const LINK_SECONDS = 300;
/** A store found to be right is believed for so long, for artifacts that are many and small. */
const TRUST_MS = 600_000;
/** A wrong link is probed again soon: the fault may be fixed, or was temporary. */
const DISTRUST_MS = 1000;

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
  let known: { probes: Probes; untilMs: number } | null = null;

  async function run(object: StoredObject, now: string): Promise<Probes> {
    const good = reach(await sign(bucket, object, { issuedAtMs: toMs(now), seconds: LINK_SECONDS }));
    const expired = reach(await sign(bucket, object, { issuedAtMs: toMs(now) - 3_600_000, seconds: 1 }));
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
    return [...probes, { probe: "foreign_tenant_api", status: await askAsStranger(tenants, object, now) }];
  }

  return {
    run,
    async sample(object, now) {
      if (known !== null && performance.now() <= known.untilMs) return known.probes;
      const probes = await run(object, now);
      const isRight = probes.every(({ probe, status }) => status === REQUIRED_PROBES[probe]);
      known = { probes, untilMs: performance.now() + (isRight ? TRUST_MS : DISTRUST_MS) };
      return probes;
    },
  };
}

async function sign(
  bucket: Bucket,
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
async function askAsStranger(tenants: TenantPool, object: StoredObject, now: string): Promise<number> {
  const tenantId = parseTenantId(randomUUID());
  if (tenantId === null) throw new Error("a UUID is a tenant id");
  const caller = toOperationCaller({ tenantId, subject: "probe", permissions: ["settings:read"] });
  const { output } = await authorizeDownload(
    { caller, object_id: object.id, delivery_id: object.delivery_id, now },
    { database: databasePort(tenants.of(tenantId), tenantId) },
  );
  return output.http_status;
}

const REMEDY_OF_GOOD =
  "set this machine's clock right, let the credential do s3:GetObject and s3:GetObjectVersion, and let no proxy before the store drop Range";
const REMEDY_OF_BAD =
  "the bucket must not be public and the store must check signatures: see Links in docs/storage.md";

const REMEDIES: Readonly<Record<ProbeName, string>> = {
  owner_get: REMEDY_OF_GOOD,
  range_get: REMEDY_OF_GOOD,
  head_with_get_url: REMEDY_OF_BAD,
  unsigned_get: REMEDY_OF_BAD,
  tampered_get: REMEDY_OF_BAD,
  expired_get: REMEDY_OF_BAD,
  other_key_get: REMEDY_OF_BAD,
  foreign_tenant_api: "the database shows a tenant another's artifacts: stop, and look at its policies",
};

/** What was wrong with these, and what to do, for an operator. */
export function describeTrial(probes: Probes, failed: readonly ProbeName[]): string {
  const wrong = probes.filter(({ probe }) => failed.includes(probe));
  const answers = wrong.map(
    ({ probe, status }) => `${probe} was answered ${status} instead of ${REQUIRED_PROBES[probe]}`,
  );
  return [...answers, ...new Set(failed.map((probe) => REMEDIES[probe]))].join("; ");
}

async function statusOf(url: string, init: RequestInit): Promise<number> {
  try {
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const answer = await fetch(url, { ...init, redirect: "manual", signal });
    await answer.body?.cancel();
    if (answer.status >= 500) throw new Error(`the answer was ${answer.status}`);
    return answer.status;
  } catch (error) {
    throw new StoreUnavailableError(`a signed link could not be tried: ${reasonOf(error)}`, { cause: error });
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
