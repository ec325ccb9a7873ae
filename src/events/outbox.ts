/**
 * The relay from the outbox, where `postern.publish` leaves events in the
 * producer's own transaction, to the queue. One transaction takes them from
 * the one and puts them into the other, so each event passes exactly once.
 */
import { z } from "zod";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { DispatchQueue } from "../queue/queue.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Catalog } from "./catalog.ts";
import type { DataFault } from "./data-check.ts";
import { brokenDataRule, type DataRule } from "./event-data.ts";
import { patternsMatching } from "./subscription.ts";
import { isOutboxEmpty, mirrorEventTypes, takeFromOutbox, type OutboxEvent } from "./outbox-store.ts";

/** A worker holds a take in memory; what is too much for it would be so for each that tries again. */
const TAKE_LIMIT = { events: 500, bytes: 8 * 1024 * 1024 };

const sentBody = z.object({ data: z.record(z.string(), z.unknown()) });

/** Lets `postern.publish` know the types of the catalog in force, and no others. */
export async function announceCatalog(db: Pool, catalog: Catalog): Promise<void> {
  await mirrorEventTypes(db, typesOf(catalog));
}

export type Outbox = {
  /** Relays up to {@link TAKE_LIMIT} and answers whether more may wait. */
  relay(): Promise<"all" | "more">;
};

export function makeOutbox(services: {
  db: Pool;
  queue: DispatchQueue;
  catalog: Catalog;
  log: Log;
  metrics: Metrics;
}): Outbox {
  const { db, queue, catalog, log, metrics } = services;

  const types = typesOf(catalog);

  function isValid(event: OutboxEvent): boolean {
    const fault = faultOf(event, catalog);
    if (fault === null) return true;
    const { reason, text, faults = [] } = fault;
    log.error(
      { tenantId: event.tenantId, eventId: event.id, eventType: event.type, reason, faults },
      `an event published from SQL ${text} and is not sent`,
    );
    metrics.eventsRejected.inc({ reason });
    return false;
  }

  return {
    async relay() {
      if (await isOutboxEmpty(db)) return "all";
      const { taken, relayed } = await inTransaction(db, async (transaction) => {
        const taken = await takeFromOutbox(transaction, types, TAKE_LIMIT);
        // Their keys were claimed by postern.publish.
        const events = taken.events.filter(isValid).map(({ id, tenantId, type, body }) => {
          return { id, tenantId, type, patterns: patternsMatching(type), body, idempotencyKey: null };
        });
        if (events.length > 0) await queue.accept(events, { lease: false, parked: [] }, transaction);
        return { taken, relayed: events.length };
      });
      metrics.eventsAccepted.inc(relayed);
      return taken.mayHaveMore ? "more" : "all";
    },
  };
}

type OutboxFault = {
  reason: DataRule | "schema" | "unknown_event_type";
  text: string;
  faults?: DataFault[];
};

/**
 * SQL knows types but no schemas, and its jsonb holds more than event data
 * may; an event whose data break a rule or their schema ends here, visibly.
 * So does one whose type left the catalog. It comes here only when workers
 * with another catalog, as during an upgrade, have had time to take it.
 */
function faultOf(event: OutboxEvent, catalog: Catalog): OutboxFault | null {
  if (catalog.find(event.type) === undefined) {
    return { reason: "unknown_event_type", text: "has a type that the catalog lacks" };
  }
  const { data } = sentBody.parse(JSON.parse(event.body));
  // Before the schema, whose check follows the data as deep as they go.
  const rule = brokenDataRule(data);
  if (rule !== null) return { reason: rule, text: "holds data that no event may hold" };
  const faults = catalog.faultsOf(event.type, data);
  if (faults.length === 0) return null;
  return { reason: "schema", text: "breaks its type's schema", faults };
}

function typesOf(catalog: Catalog): string[] {
  return catalog.entries.map(({ type }) => type);
}
