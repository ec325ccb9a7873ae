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

type ArtifactKeeperServices = {
  tenants: TenantPool;
  bucket: Bucket;
  probes: LinkProbes;
  planDays: number;
  log: Log;
  metrics: Pick<Metrics, "artifactsTotal">;
};

export function makeArtifactKeeper(services: ArtifactKeeperServices): ArtifactKeeper {
  return new BoundedKeeper(services);
}

class BoundedKeeper implements ArtifactKeeper {
  readonly #services: ArtifactKeeperServices;
  readonly #waiting: Artifact[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #weight = 0;
  #toldAtMs = -TELL_EVERY_MS;
  #untold = 0;

  constructor(services: ArtifactKeeperServices) {
    this.#services = services;
  }

  keep(made: MadeAttempt): void {
    const { metrics } = this.#services;
    for (const artifact of artifactsOf(made)) {
      if (made.attempt > MAX_ATTEMPT) {
        metrics.artifactsTotal.inc({ kind: artifact.kind, outcome: "beyond_999" });
      } else if (this.#weight + artifact.weight > MAX_WAITING_BYTES) {
        this.#lose(artifact, "dropped", "too many artifacts wait to be stored");
      } else {
        this.#weight += artifact.weight;
        this.#waiting.push(artifact);
      }
    }
    this.#start();
  }

  async stop(): Promise<void> {
    // What waits for its next try ends; the rest gets one.
    this.#stopping.abort();
    const end = performance.now() + STOP_LIMIT_MS;
    while (this.#running.size > 0 && performance.now() < end) {
      await Promise.race([...this.#running, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
    }
    for (const artifact of this.#waiting.splice(0)) this.#lose(artifact, "lost", "the process ended");
  }

  #start(): void {
    while (this.#running.size < MAX_AT_ONCE) {
      const artifact = this.#waiting.shift();
      if (artifact === undefined) return;
      const storing = this.#storeWithRetries(artifact).finally(() => {
        this.#weight -= artifact.weight;
        this.#running.delete(storing);
        this.#start();
      });
      this.#running.add(storing);
    }
  }

  async #storeWithRetries(artifact: Artifact): Promise<void> {
    const { metrics } = this.#services;
    for (const waitMs of [...RETRY_DELAYS_MS, null]) {
      try {
        await this.#store(artifact);
        metrics.artifactsTotal.inc({ kind: artifact.kind, outcome: "kept" });
        return;
      } catch (error) {
        if (waitMs === null || this.#stopping.signal.aborted) return this.#lose(artifact, "lost", error);
        await delay(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      }
    }
  }

  async #store({ tenantId, deliveryId, attempt, kind, body, days }: Artifact): Promise<void> {
    const { tenants, bucket, probes, planDays } = this.#services;
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
  #lose({ kind, tenantId, deliveryId }: Artifact, outcome: "dropped" | "lost", cause: unknown): void {
    const { log, metrics } = this.#services;
    metrics.artifactsTotal.inc({ kind, outcome });
    this.#untold++;
    const nowMs = performance.now();
    if (nowMs - this.#toldAtMs < TELL_EVERY_MS) return;
    log.warn(
      { err: cause, kind, tenantId, deliveryId, artifacts: this.#untold },
      "artifacts could not be stored",
    );
    this.#toldAtMs = nowMs;
    this.#untold = 0;
  }
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
