/**
 * Stores the bodies of attempts for the tenants that keep them, beside the
 * attempts and never in their way: what is handed over waits in memory within a
 * bound, and what does not fit, or finds the store away for long, is lost. That
 * is counted and logged. A row that was begun stays pending until rows and
 * bucket are compared: if its bytes came, it is finished there, else found missing.
 */
import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { TenantPool } from "../../database/tenant-pool.ts";
import type { DeliveryId, TenantId } from "../../shared/id.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Bucket } from "../bytes/bucket.ts";
import type { LinkProbes } from "../library/link-probes.ts";
import type { ArtifactKind } from "../rules/object-key.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { readDatabaseClock } from "../rows/stored-object-store.ts";
import { decideOpening, openObject, uploadObject } from "../library/upload-object.ts";
import type { KeptBodies } from "./kept-bodies.ts";

const MAX_ATTEMPT = 999;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
const MAX_AT_ONCE = 4;
/** Before the second and third try of one. */
const RETRY_DELAYS_MS = [500, 2000];
const TELL_EVERY_MS = 10_000;
/** What is left when the process ends. */
const STOP_LIMIT_MS = 5000;

export type MadeAttempt = {
  tenantId: TenantId;
  deliveryId: DeliveryId;
  attempt: number;
  requestBody: string;
  /** All that was read of the answer, where it is more than the log keeps. */
  longResponseBody: Buffer | null;
  keeps: KeptBodies;
};

export type ArtifactKeeper = {
  /** Takes what the tenant keeps of an attempt; never waits and never throws. */
  keep(attempt: MadeAttempt): void;
  /** Stores what waits, within a few seconds. */
  stop(): Promise<void>;
};

type Artifact = Pick<MadeAttempt, "tenantId" | "deliveryId" | "attempt"> & {
  kind: Exclude<ArtifactKind, "export">;
  body: string | Buffer;
  /** For the bound; an estimate where the body is text. */
  weight: number;
  days: number | null;
};

export function makeArtifactKeeper(services: {
  tenants: TenantPool;
  bucket: Bucket;
  probes: LinkProbes;
  planDays: number;
  log: Log;
  metrics: Pick<Metrics, "artifactsTotal">;
}): ArtifactKeeper {
  const { tenants, bucket, probes, planDays, log, metrics } = services;
  const waiting: Artifact[] = [];
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let weight = 0;
  let toldAtMs = -TELL_EVERY_MS;
  let untold = 0;

  function keep(made: MadeAttempt): void {
    for (const artifact of artifactsOf(made)) {
      if (made.attempt > MAX_ATTEMPT) {
        metrics.artifactsTotal.inc({ kind: artifact.kind, outcome: "beyond_999" });
      } else if (weight + artifact.weight > MAX_WAITING_BYTES) {
        lose(artifact, "dropped", "too many artifacts wait to be stored");
      } else {
        weight += artifact.weight;
        waiting.push(artifact);
      }
    }
    start();
  }

  function start(): void {
    while (running.size < MAX_AT_ONCE) {
      const artifact = waiting.shift();
      if (artifact === undefined) return;
      const storing = storeWithRetries(artifact).finally(() => {
        weight -= artifact.weight;
        running.delete(storing);
        start();
      });
      running.add(storing);
    }
  }

  async function storeWithRetries(artifact: Artifact): Promise<void> {
    for (const waitMs of [...RETRY_DELAYS_MS, null]) {
      try {
        await store(artifact);
        metrics.artifactsTotal.inc({ kind: artifact.kind, outcome: "kept" });
        return;
      } catch (error) {
        if (waitMs === null || stopping.signal.aborted) return lose(artifact, "lost", error);
        await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  async function store({ tenantId, deliveryId, attempt, kind, body, days }: Artifact): Promise<void> {
    const db = tenants.of(tenantId);
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const object = await uploadObject(
      { db, bucket },
      {
        tenantId,
        id: randomUUID(),
        deliveryId,
        attempt,
        kind,
        bucket: bucket.name,
        size: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      },
      () => Readable.from([bytes]),
    );
    // The attempt was made twice, and the first one's artifact stays.
    if (object === null) return;
    const now = await readDatabaseClock(db);
    const opening = await decideOpening(
      bucket,
      {
        delivery: { id: deliveryId, tenant_id: storageTenantId(tenantId), latest_attempt: attempt },
        object,
        archive_code: null,
        probes: await probes.sample(object, now),
        now,
      },
      { plan: planDays, tenant: days },
    );
    await openObject(db, opening, now);
  }

  /** Many at once are one line: the log must not fill because the store is away. */
  function lose({ kind, tenantId, deliveryId }: Artifact, outcome: "dropped" | "lost", cause: unknown): void {
    metrics.artifactsTotal.inc({ kind, outcome });
    untold++;
    const nowMs = performance.now();
    if (nowMs - toldAtMs < TELL_EVERY_MS) return;
    log.warn({ err: cause, kind, tenantId, deliveryId, artifacts: untold }, "artifacts could not be stored");
    toldAtMs = nowMs;
    untold = 0;
  }

  return {
    keep,
    async stop() {
      // What waits for its next try ends; the rest gets one.
      stopping.abort();
      const end = performance.now() + STOP_LIMIT_MS;
      while (running.size > 0 && performance.now() < end) {
        await Promise.race([...running, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
      }
      for (const artifact of waiting.splice(0)) lose(artifact, "lost", "the process ended");
    },
  };
}

function* artifactsOf(made: MadeAttempt): Generator<Artifact> {
  const { tenantId, deliveryId, attempt, keeps, requestBody, longResponseBody } = made;
  const base = { tenantId, deliveryId, attempt, days: keeps.days };
  if (keeps.requestBodies) {
    yield { ...base, kind: "request_body", body: requestBody, weight: requestBody.length };
  }
  if (keeps.responseBodies && longResponseBody !== null) {
    yield { ...base, kind: "response_body", body: longResponseBody, weight: longResponseBody.length };
  }
}
