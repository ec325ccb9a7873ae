/**
 * Stores the bodies of attempts for the tenants that keep them, beside the
 * attempts and never in their way. What is to be kept is noted in the database
 * together with the attempt's outcome, and a worker works the notes off: a
 * process that dies loses none. A body is lost only where too many wait, where
 * it could not be stored for a day, or where its event is gone; that is counted
 * and logged.
 */
import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Db, Pool } from "../../database/pool.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import type { BodiesToKeep } from "../../queue/queue.ts";
import { every, pause } from "../../shared/every.ts";
import type { TenantId } from "../../shared/id.ts";
import { makeTenantTurns, type TenantTurns } from "../../shared/tenant-turns.ts";
import { seldom } from "../../shared/seldom.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { decideOpening, openObject, uploadObject } from "../library/upload-object.ts";
import type { LinkProbes } from "../library/link-probes.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { insertPendingObject, readDatabaseClock } from "../rows/stored-object-store.ts";
import { tenantsBeyond } from "./backlog.ts";
import type { KeptBodies } from "./kept-bodies.ts";
import {
  claimBodies,
  deleteBody,
  findBodyTenants,
  insertBodies,
  measureBodies,
  postponeBody,
  readRequestBody,
  type DeliveryOfBodies,
  type WaitingBody,
} from "./kept-body-store.ts";

const MAX_ATTEMPT = 999;
/** Of all tenants and processes. Some more may come: what is measured is seconds old, and tenants that have few go on. */
const MAX_WAITING = { count: 200_000, bytes: 1024 ** 3 };
const MEASURE_EVERY_MS = 2000;
const POLL_MS = 1000;
const CLAIM = 16;
const MAX_AT_ONCE = 4;
/** After it another keeper takes what one left when it died. Two at one body do no harm. */
const LEASE_MS = 20_000;
const LONGEST_DELAY_MS = 300_000;
const GIVE_UP_S = 86_400;
const TELL_EVERY_MS = 10_000;

type LossReason = "backlog" | "store" | "gone";

export type ArtifactKeeper = {
  /** What of an attempt is to be noted with its outcome; null: nothing. */
  choose(
    keeps: KeptBodies | null,
    made: { tenantId: TenantId; attempt: number; longResponseBody: Buffer | null },
  ): BodiesToKeep | null;
  /** Within the transaction that logs a person's delivery. */
  note(transaction: Db, of: DeliveryOfBodies, bodies: BodiesToKeep): Promise<void>;
  /** Stores what was noted, by whatever process. */
  start(): void;
  stop(): Promise<void>;
};

type ArtifactKeeperServices = {
  /** Sees the rows of every tenant. */
  db: Pool;
  tenants: TenantPool;
  bucket: Bucket;
  probes: LinkProbes;
  planDays: number;
  log: Log;
  metrics: Pick<Metrics, "artifactsTotal" | "bodiesWaiting">;
  /** Only tests choose. */
  maxWaiting?: typeof MAX_WAITING;
  /** Only tests choose. */
  wait?: typeof pause;
};

export function makeArtifactKeeper(services: ArtifactKeeperServices): ArtifactKeeper {
  return new DurableKeeper(services);
}

class DurableKeeper implements ArtifactKeeper {
  readonly #services: ArtifactKeeperServices;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> | null = null;
  readonly #turns: TenantTurns;
  #beyond: ReadonlySet<TenantId> = new Set();
  /** Many at once are one line: the log must not fill because the store is away. */
  readonly #tell = seldom(
    TELL_EVERY_MS,
    (times, { kind, tenantId, deliveryId }: Partial<WaitingBody>, err: unknown, message: string) =>
      this.#services.log.warn({ err, kind, tenantId, deliveryId, times }, message),
  );

  constructor(services: ArtifactKeeperServices) {
    this.#services = services;
    this.#turns = makeTenantTurns(() => findBodyTenants(services.db), CLAIM);
  }

  choose(
    keeps: KeptBodies | null,
    made: { tenantId: TenantId; attempt: number; longResponseBody: Buffer | null },
  ): BodiesToKeep | null {
    const { metrics } = this.#services;
    const { tenantId, attempt, longResponseBody } = made;
    if (keeps === null) return null;
    const { requestBodies: requestBody, days } = keeps;
    const bodies = { requestBody, responseBody: keeps.responseBodies ? longResponseBody : null, days };
    const kinds = [
      ...(bodies.requestBody ? ["request_body" as const] : []),
      ...(bodies.responseBody === null ? [] : ["response_body" as const]),
    ];
    if (kinds.length === 0) return null;
    if (attempt <= MAX_ATTEMPT && !this.#beyond.has(tenantId)) return bodies;
    for (const kind of kinds) {
      if (attempt > MAX_ATTEMPT) metrics.artifactsTotal.inc({ kind, outcome: "beyond_999", reason: "" });
      else this.#lose({ kind, tenantId }, "backlog", "too many bodies wait to be stored");
    }
    return null;
  }

  async note(transaction: Db, of: DeliveryOfBodies, bodies: BodiesToKeep): Promise<void> {
    await insertBodies(transaction, of, bodies);
  }

  start(): void {
    const { signal } = this.#stopping;
    const { wait = pause } = this.#services;
    const failed = (error: unknown) =>
      this.#tell({}, error, "bodies that wait to be stored were not looked at");
    this.#running ??= Promise.all([
      every(POLL_MS, () => this.#workOff(), { signal, failed, wait }),
      every(MEASURE_EVERY_MS, () => this.#measure(), { signal, failed, wait }),
    ]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #measure(): Promise<void> {
    const { db, metrics, maxWaiting = MAX_WAITING } = this.#services;
    const waiting = await measureBodies(db);
    metrics.bodiesWaiting.set(waiting.reduce((sum, { count }) => sum + count, 0));
    this.#beyond = tenantsBeyond(waiting, maxWaiting);
  }

  async #workOff(): Promise<void> {
    const { signal } = this.#stopping;
    const { db, wait = pause } = this.#services;
    let mayHaveMore = true;
    while (mayHaveMore && !signal.aborted) {
      const tenantIds = await this.#turns.next();
      if (tenantIds.length === 0) return;
      const each = Math.floor(CLAIM / tenantIds.length);
      const claimed = await claimBodies(db, tenantIds, { each, leaseMs: LEASE_MS });
      mayHaveMore = this.#turns.end(claimed.length > 0);
      const waiting = [...claimed];
      let failures = 0;
      const workOff = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          if (!(await this.#keepOne(next))) failures++;
        }
      };
      await Promise.all(Array.from({ length: MAX_AT_ONCE }, workOff));
      // While the store is away the rest need not be tried at once. What it refuses to one tenant stops no other of the turn.
      if (failures > 0 && failures === claimed.length) await wait(MEASURE_EVERY_MS, signal);
    }
  }

  /** False where it is to be tried again. */
  async #keepOne(waiting: WaitingBody): Promise<boolean> {
    const { db, tenants, metrics } = this.#services;
    const { kind, tries, waitedS } = waiting;
    try {
      // Another keeper need not wait until the lease ends.
      if (this.#stopping.signal.aborted) {
        await postponeBody(db, waiting, 0);
        return true;
      }
      const bytes = waiting.body ?? (await readRequestBody(tenants.of(waiting.tenantId), waiting));
      if (bytes === null) this.#lose(waiting, "gone", "the event is gone");
      else await this.#store(waiting, Buffer.from(bytes));
      await deleteBody(db, waiting);
      if (bytes !== null) metrics.artifactsTotal.inc({ kind, outcome: "kept", reason: "" });
      return true;
    } catch (error) {
      await this.#failed(
        waiting,
        error,
        waitedS > GIVE_UP_S ? null : Math.min(LONGEST_DELAY_MS, 500 * 2 ** tries),
      );
      return false;
    }
  }

  /** `delayMs` null: there is no next try. */
  async #failed(waiting: WaitingBody, error: unknown, delayMs: number | null): Promise<void> {
    const { db } = this.#services;
    try {
      if (delayMs === null) {
        await deleteBody(db, waiting);
        this.#lose(waiting, "store", error);
      } else {
        this.#tell(waiting, error, "bodies could not be stored yet; they are tried again");
        await postponeBody(db, waiting, delayMs);
      }
    } catch (second) {
      // Its lease ends.
      this.#tell(waiting, second, "bodies could not be stored yet; they are tried again");
    }
  }

  async #store({ tenantId, deliveryId, attempt, kind, days }: WaitingBody, bytes: Buffer): Promise<void> {
    const { db: worker, tenants, bucket, probes, planDays } = this.#services;
    const db = tenants.of(tenantId);
    const object = await uploadObject(
      { db, bucket, begin: (wanted) => insertPendingObject(worker, wanted, "body") },
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
    // It is stored already: that process died before it deleted the note. Or the tenant was erased.
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

  #lose(of: Pick<WaitingBody, "kind"> & Partial<WaitingBody>, reason: LossReason, cause: unknown): void {
    this.#services.metrics.artifactsTotal.inc({ kind: of.kind, outcome: "lost", reason });
    this.#tell(of, cause, "bodies of attempts are lost");
  }
}
