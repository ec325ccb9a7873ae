/**
 * The relay from the outbox to the queue. The outbox has the events that
 * `postern.publish` left there in the producer's own transaction, and
 * Postern's own events ({@link publishOwn}).
 */
import * as z from "zod";
import type { Pool } from "../database/pool.ts";
import type { DispatchQueue, NewEvent, OutboxEvent } from "../queue/queue.ts";
import type { Clock } from "../shared/clock.ts";
import type { TenantId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import type { LiveCatalog } from "./live-catalog.ts";
import type { DataFault } from "./data-check.ts";
import { brokenDataRule, type DataRule } from "./event-data.ts";
import { patternsMatching } from "./subscription.ts";
import { isServiceType } from "./built-in-catalog.ts";
import { writeEvent } from "./new-event.ts";
import { mirrorEventTypes, type MirroredType } from "./outbox-store.ts";
import { TakeSize } from "./take-size.ts";

/** A worker holds a take in memory; what is too much for it would be so for each that tries again. */
const TAKE_LIMIT = { events: 500, bodyBytes: 8 * 1024 * 1024 };

const sentBody = z.object({ data: z.record(z.string(), z.unknown()) });

const ANNOUNCE_AGAIN_MS = 60_000;

/**
 * Lets `postern.publish` know the types of the catalog in force, and no others:
 * when it has changed, and each minute, since a process with another catalog may
 * have announced that.
 *
 * @returns the work, to be called often.
 */
export function makeCatalogAnnouncer(db: Pool, catalog: LiveCatalog): () => Promise<void> {
  let announced: Catalog | null = null;
  let dueAt = 0;
  return async () => {
    const inForce = catalog.current();
    if (inForce === announced && performance.now() < dueAt) return;
    await mirrorEventTypes(db, mirrored(inForce));
    announced = inForce;
    dueAt = performance.now() + ANNOUNCE_AGAIN_MS;
  };
}

export type Outbox = {
  /** Relays up to {@link TAKE_LIMIT}, less after a long relay, and answers whether more may wait. */
  relay(): Promise<"all" | "more">;
};

export function makeOutbox(services: {
  queue: Pick<DispatchQueue, "relay">;
  catalog: LiveCatalog;
  log: Log;
  metrics: Metrics;
  tracing: Tracing | null;
  clock: Clock;
  /** The tenant that gets every tenant's own events of Postern too; null: none. */
  operatorTenant: TenantId | null;
}): Outbox {
  const { queue, log, metrics, tracing, clock, operatorTenant } = services;
  const size = new TakeSize(TAKE_LIMIT.events);

  function judge(event: OutboxEvent, catalog: Catalog): NewEvent[] {
    const fault = faultOf(event, catalog);
    if (fault === null) {
      if (isServiceType(event.type)) metrics.ownEvents.inc({ type: event.type });
      const copy = operatorTenant === null ? null : copyFor(operatorTenant, event);
      return (copy === null ? [event] : [event, copy]).map(toAccept);
    }
    const { reason, text, faults = [] } = fault;
    log.error(
      { tenantId: event.tenantId, eventId: event.id, eventType: event.type, reason, faults },
      `an event published from SQL ${text} and is not sent`,
    );
    metrics.eventsRejected.inc({ reason });
    return [];
  }

  function toAccept(event: OutboxEvent): NewEvent {
    // Should the relay be tried again, this is told again, of the same span.
    const traced = { eventId: event.id, eventType: event.type, tenantId: event.tenantId };
    tracing?.accepted(traced, Date.now());
    const versions = [event.version, ...Object.keys(event.others ?? {}).map(Number)];
    const idempotencyKey = event.unclaimedKey ?? null;
    return { ...event, patterns: patternsMatching(event.type, versions), idempotencyKey };
  }

  return {
    async relay() {
      // One catalog for both: an event whose type leaves meanwhile must have its ten minutes.
      const catalog = services.catalog.current();
      const begunAt = clock.nowMs();
      try {
        const { relayed, mayHaveMore } = await queue.relay({
          types: [...catalog.types.keys()],
          limits: { ...TAKE_LIMIT, events: size.events },
          judge: (event) => judge(event, catalog),
        });
        size.took(clock.nowMs() - begunAt);
        metrics.eventsAccepted.inc(relayed);
        return mayHaveMore ? "more" : "all";
      } catch (error) {
        size.failed();
        throw error;
      }
    },
  };
}

/** One of Postern's own events for the operator, with the tenant that it is about; null for any other, and for its own. */
function copyFor(operatorTenant: TenantId, { tenantId, type, body }: OutboxEvent): OutboxEvent | null {
  if (!isServiceType(type) || tenantId === operatorTenant) return null;
  const { data } = sentBody.parse(JSON.parse(body));
  const copy = writeEvent(type, { tenant_id: tenantId, ...data });
  return { tenantId: operatorTenant, type, version: 1, others: null, ...copy };
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
  if (!catalog.types.has(event.type)) {
    return { reason: "unknown_event_type", text: "has a type that the catalog lacks" };
  }
  const bodies: [version: number, body: string][] = [
    [event.version, event.body],
    ...Object.entries(event.others ?? {}).map(([version, body]): [number, string] => [Number(version), body]),
  ];
  for (const [version, body] of bodies) {
    const fault = dataFaultOf({ type: event.type, version }, body, catalog);
    if (fault !== null) return fault;
  }
  return null;
}

function dataFaultOf(
  entry: { type: string; version: number },
  body: string,
  catalog: Catalog,
): OutboxFault | null {
  const { data } = sentBody.parse(JSON.parse(body));
  // Before the schema, whose check follows the data as deep as they go.
  const rule = brokenDataRule(data);
  if (rule !== null) return { reason: rule, text: "holds data that no event may hold" };
  // An operator's catalog may define Postern's own types with a schema of its own, and they must not be lost to it.
  if (isServiceType(entry.type)) return null;
  const faults = catalog.faultsOf(entry, data);
  if (faults.length === 0) return null;
  return { reason: "schema", text: "breaks its type's schema", faults };
}

function mirrored(catalog: Catalog): MirroredType[] {
  return Array.from(catalog.types, ([type, { newest, versions }]) => {
    const others = [...versions.values()].filter((entry) => entry !== newest);
    return {
      type,
      newest: newest.version,
      needed: numbersOf(others.filter(({ preview }) => !preview)),
      others: numbersOf(others),
    };
  });
}

function numbersOf(versions: readonly CatalogEntry[]): number[] {
  return versions.map(({ version }) => version);
}
