/** What clients of pull endpoints call, with the real queue and a database of its own; what is beside it is a test's. */
import assert from "node:assert/strict";
import type { TenantPool } from "../../src/database/tenant-pool.ts";
import { sealSigningSecret } from "../../src/endpoints/signing-secret.ts";
import {
  Fetches,
  type Ack,
  type Acknowledged,
  type FetchQueue,
  type FetchServices,
  type Lease,
} from "../../src/pull/fetches.ts";
import { FetchWaits, type FetchWatch } from "../../src/queue/fetch-waits.ts";
import { completeAttempts } from "../../src/queue/postgres/complete-store.ts";
import { findHeldByLease, leaseHeld, nextHeldInMs } from "../../src/queue/postgres/fetch-store.ts";
import { notifyFetchers } from "../../src/queue/postgres/follow-store.ts";
import {
  newDeliveryId,
  newEndpointId,
  newEventId,
  type DeliveryId,
  type EndpointId,
} from "../../src/shared/id.ts";
import { makeSecretBox } from "../../src/shared/secret-box.ts";
import { makeMetrics } from "../../src/telemetry/metrics.ts";
import { makeKeptLog } from "./kept-log.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { openTenantPool, type OpenedTenantPool } from "./tenant-pool.ts";
import { tenant } from "./two-tenants.ts";

const ACME = tenant("acme");
const secretBox = makeSecretBox([Buffer.alloc(32, 7)]);
const NEVER = new AbortController().signal;

const MOST_STEPS = 1000;

/** Waits whose ends a test decides, by a clock of their own. */
class GivenWaits extends FetchWaits {
  /** In order: "watch", "look", the milliseconds of a wait, "end". */
  readonly steps: (string | number)[] = [];
  nowMs = 1000;
  /** What happens during a wait; by default its time passes. */
  during: (ms: number) => Promise<unknown> = async (ms) => void (this.nowMs += ms);

  override watch(): FetchWatch {
    this.steps.push("watch");
    const next = async (ms: number): Promise<void> => {
      this.steps.push(ms);
      if (this.steps.length > MOST_STEPS) throw new Error("it looks again and again");
      await this.during(ms);
    };
    return { next, end: () => void this.steps.push("end") };
  }
}

export class FetchesAtHand {
  readonly tenants: OpenedTenantPool;
  readonly #database: TestDatabase;
  readonly waits: GivenWaits;
  readonly metrics = makeMetrics();
  readonly kept = makeKeptLog();
  /** What the parts beside it were asked. */
  readonly chosen: unknown[] = [];
  readonly observed: unknown[] = [];
  readonly told: (readonly EndpointId[])[] = [];
  asked: unknown[] = [];
  retryDelayMs: (attempt: number) => number | null = () => 5000;
  observe: FetchServices["health"]["observe"] = async (endpoint, outcome) => {
    this.observed.push([endpoint.endpointId, outcome]);
    return false;
  };
  /** A pull endpoint. */
  endpointId = newEndpointId();
  fetches: Fetches;

  /** Nothing is left of what the one before did. */
  static async begin(database: TestDatabase, tenants: OpenedTenantPool): Promise<FetchesAtHand> {
    for (const table of ["endpoints", "events", "deliveries", "dispatches", "person_sends"])
      await database.pool.query(`DELETE FROM postern.${table}`);
    const hand = new FetchesAtHand(database, tenants);
    hand.endpointId = await hand.makeEndpoint();
    return hand;
  }

  private constructor(database: TestDatabase, tenants: OpenedTenantPool) {
    this.#database = database;
    this.tenants = tenants;
    this.waits = new GivenWaits({ databaseUrl: database.url, log: this.kept.log });
    this.fetches = this.make(tenants);
  }

  make(tenants: TenantPool): Fetches {
    const queue: FetchQueue = {
      lease: (db, endpoint, leaseId, limits) => {
        this.asked.push(limits);
        this.waits.steps.push("look");
        return leaseHeld(db, endpoint, leaseId, limits);
      },
      nextInMs: nextHeldInMs,
      findLeased: (db, endpoint, leaseId, ids) => {
        this.asked.push([...ids]);
        return findHeldByLease(db, endpoint, leaseId, ids);
      },
      complete: (db, attempts) => completeAttempts(db, attempts, "wait", "tenant"),
      notify: async (db, endpoints) => {
        this.told.push(endpoints);
        await notifyFetchers(db, endpoints);
      },
    };
    return new Fetches({
      tenants,
      secretBox,
      queue,
      waits: this.waits,
      artifacts: {
        choose: (keeps, attempt) => {
          this.chosen.push([keeps, attempt]);
          return null;
        },
      },
      health: { observe: (endpoint, outcome) => this.observe(endpoint, outcome) },
      retryDelayMs: (attempt) => this.retryDelayMs(attempt),
      log: this.kept.log,
      metrics: this.metrics,
    });
  }

  async sql(text: string, values: unknown[] = []) {
    return (await this.#database.pool.query(text, values)).rows;
  }

  /** In a transaction that is open until the answer is called. */
  async lockDispatches(): Promise<() => Promise<void>> {
    const client = await this.#database.pool.connect();
    await client.query("BEGIN; SELECT FROM postern.dispatches FOR UPDATE");
    return async () => {
      await client.query("ROLLBACK");
      client.release();
    };
  }

  async makeEndpoint(mode = "pull"): Promise<EndpointId> {
    const id = newEndpointId();
    const secret = sealSigningSecret(secretBox, `whsec_${"A".repeat(32)}`, {
      tenantId: ACME,
      endpointId: id,
    });
    await this.sql(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, mode, created_at, updated_at)
        VALUES ('acme', $1, 'https://example.com/', '{*}', $2, $3, now(), now())`,
      [id, secret, mode],
    );
    return id;
  }

  /** A dispatch of a new event that is due; the event is gone where its body is null. */
  async offer(body: string | null = "{}", once = false): Promise<DeliveryId> {
    const [id, event] = [newDeliveryId(), newEventId()];
    await this.sql(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
          held, once)
        VALUES ('acme', $1, $2, $3, 'invoice.paid', 3, now(), now(), true, $4)`,
      [this.endpointId, id, event, once],
    );
    if (body !== null)
      await this.sql("INSERT INTO postern.events VALUES ('acme', $1, 'invoice.paid', $2, 1)", [event, body]);
    return id;
  }

  /** The same, by a person who waits for it. */
  async send(body = '{"of":"a person"}'): Promise<DeliveryId> {
    const id = newDeliveryId();
    await this.sql(
      `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, event_id, event_type, trigger, attempt,
          request_body, request_headers, delivery_label)
        VALUES ('acme', $1, $2, $3, 'invoice.paid', 'retry', 2, $4, '{}', 'a label')`,
      [this.endpointId, id, newEventId(), body],
    );
    return id;
  }

  lease({ limit = 10, waitMs = 0, signal = NEVER } = {}): Promise<Lease | null> {
    return this.fetches.lease(ACME, this.endpointId, { limit, waitMs, signal });
  }

  async leased(limit = 10): Promise<Lease> {
    return (await this.lease({ limit })) ?? assert.fail("nothing was leased");
  }

  ack(leaseId: string, acks: readonly Ack[]): Promise<Acknowledged> {
    return this.fetches.acknowledge(ACME, this.endpointId, { leaseId, acks });
  }

  /** What is not 0 of a metric: the values of its labels, and the number. */
  async counted(name: "pullLeased" | "pullAcks" | "pullWaiting" | "attemptsTotal"): Promise<unknown[][]> {
    const { values } = await this.metrics[name].get();
    return values
      .filter(({ value }) => value !== 0)
      .map(({ labels, value }) => Object.values<string | number>(labels).concat(value));
  }
}

export async function openFetchesAtHand() {
  const database = await createTestDatabase();
  const tenants = openTenantPool(database, 4);
  return {
    begin: () => FetchesAtHand.begin(database, tenants),
    async close(): Promise<void> {
      await tenants.end();
      await database.drop();
    },
  };
}

export const idsOf = (found: Lease | null): DeliveryId[] | undefined => found?.events.map(({ id }) => id);
