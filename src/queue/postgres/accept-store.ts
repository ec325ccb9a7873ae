import { int2Array, textArray, uuidArray } from "../../database/binary-arrays.ts";
import type { Db } from "../../database/pool.ts";
import type { Residents } from "../../database/residence.ts";
import type { DeliveryId, EndpointId, EndpointKey, EventId, TenantId } from "../../shared/id.ts";
import {
  bodyOf,
  LEASE_MS,
  type Acceptance,
  type EarlierEvent,
  type LeasedDispatch,
  type NewEvent,
} from "../queue.ts";
import { FETCH_CHANNEL, WAKE_CHANNEL } from "../channels.ts";
import { NEIGHBOURS, type SlotSet } from "../slots.ts";
import { inSlots } from "./in-slots.ts";

/** One for each dispatch, or for an event without any. */
type AcceptedRow = { event_id: EventId } & (ToSend | { dispatch_id: DeliveryId | null; parked: null });

/** A dispatch that is not held, to be fetched. */
type ToSend = {
  dispatch_id: DeliveryId;
  endpoint_id: EndpointId;
  parked: boolean;
  leased: boolean;
  /** Of events with versions; otherwise there is none. */
  version?: number;
};

/**
 * Whether any event has an idempotency key, whether any has versions or a traceparent, whether the
 * database is one of several, and whether there are many events for each tenant and type. Most
 * groups have none of it, and a statement without costs less.
 */
type Kind = { areKeyed: boolean; haveExtras: boolean; mustBeHere: boolean; areAlike: boolean };

/** Events for each tenant and type from which on it costs less to look its endpoints up once. */
const ALIKE_FROM = 32;

const VERSIONS_FINGERPRINT = "postern.versions_fingerprint(type, body, version, others::json)";

/** Read before the first key is claimed, so that the limit is in force; it ends with the transaction. */
function patienceSql(parameter: string): string {
  return /* sql */ `
    SELECT set_config('lock_timeout', coalesce(${parameter}::text, current_setting('lock_timeout')), true)
  `;
}

/** Claims the keys of the events in `given`. */
function claimSql(fingerprint: string): string {
  return /* sql */ `
    INSERT INTO postern.idempotency_keys (tenant_id, key, event_id, fingerprint)
    SELECT tenant_id, key, id, ${fingerprint} FROM given WHERE key IS NOT NULL
    -- In one order everywhere: concurrent requests with the same keys wait for each other, never crosswise.
    ORDER BY tenant_id, key, id
    ON CONFLICT DO NOTHING
    RETURNING event_id
  `;
}

/** Which of the given events are accepted: all without a key, and those whose key was free. */
function acceptedSql({ areKeyed, haveExtras, mustBeHere }: Kind): string {
  // Behind the parameters of keys, if there are any.
  const first = areKeyed ? 12 : 10;
  const last = first + (haveExtras ? 3 : 0);
  // Before the first row is read, of which everything else is made.
  const required = mustBeHere
    ? /* sql */ `required AS MATERIALIZED (SELECT postern.require_here($${last}::text[], $${last + 1}::bigint[])), `
    : "";
  const behind = mustBeHere ? "required, " : "";
  const extraArrays = haveExtras
    ? `, $${first}::smallint[], $${first + 1}::text[], $${first + 2}::text[]`
    : "";
  const extraColumns = haveExtras ? ", version, others, traceparent" : "";
  if (!areKeyed) {
    return /* sql */ `${required}accepted AS MATERIALIZED (
    SELECT id, tenant_id, type, body, patterns::text[] AS patterns${extraColumns}
    FROM ${behind}unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]${extraArrays})
      AS given (id, tenant_id, type, body, patterns${extraColumns})
  )`;
  }
  const fingerprint = haveExtras ? VERSIONS_FINGERPRINT : "postern.content_fingerprint(type, body)";
  return /* sql */ `${required}patience AS MATERIALIZED (${patienceSql("$10")}), given AS MATERIALIZED (
    SELECT id, tenant_id, type, body, key, patterns::text[] AS patterns${extraColumns}
    FROM ${behind}patience, unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $11::text[]${extraArrays})
      AS given (id, tenant_id, type, body, patterns, key${extraColumns})
  ), claimed AS (${claimSql(fingerprint)}), accepted AS MATERIALIZED (
    SELECT * FROM given
    -- All keys are claimed before the first event is fanned out: who follows an endpoint waits for what is fanned out.
    WHERE (SELECT count(*) FROM claimed) >= 0 AND (key IS NULL OR id IN (SELECT event_id FROM claimed))
  )`;
}

/** The highest version that an endpoint names of the type that is asked for. */
const NAMED_VERSION = /* sql */ `(SELECT max(split_part(pattern, '@', 2)::smallint) FROM unnest(events) AS pattern
        WHERE pattern ^@ (asked.type || '@') AND pattern = ANY (asked.patterns))`;

/** Each event with each endpoint that gets it, behind what that needs. */
function pairsSql({ haveExtras, areAlike }: Kind): { parts: string; pairs: string } {
  const named = areAlike ? NAMED_VERSION : `CASE WHEN asked.others IS NOT NULL THEN ${NAMED_VERSION} END`;
  // No endpoint is locked for it: who changes one would wait behind all that is being accepted.
  const held = /* sql */ `CASE WHEN mode = 'pull' OR moving THEN postern.still_held(tenant_id, id) ELSE false END AS held`;
  const subscribers = /* sql */ `SELECT id, ${held}${haveExtras ? `, ${named} AS named` : ""}
      FROM postern.endpoints
      WHERE tenant_id = asked.tenant_id AND enabled AND deleted_at IS NULL AND events && asked.patterns
      -- Keeps PostgreSQL from joining with every tenant's endpoints at once: see key-look-up.ts.
      OFFSET 0`;
  // Of an endpoint that names a version of the event; otherwise the event's own.
  const version = haveExtras
    ? ", CASE WHEN asked.others IS NULL THEN asked.version ELSE coalesce(e.named, asked.version) END AS version"
    : "";
  const pair = `asked.tenant_id, e.id AS endpoint_id, asked.id AS event_id, asked.type, e.held${version}`;
  if (!areAlike) {
    return {
      parts: "",
      pairs: /* sql */ `SELECT ${pair} FROM accepted AS asked CROSS JOIN LATERAL (${subscribers}) AS e`,
    };
  }
  const lists = ["id", "held", ...(haveExtras ? ["named"] : [])];
  return {
    parts: /* sql */ `, subscribed AS MATERIALIZED (
    SELECT tenant_id, type, patterns, ${lists.map((name) => `array_agg(e.${name}) AS ${name}s`).join(", ")}
    FROM (SELECT DISTINCT tenant_id, type, patterns FROM accepted) AS asked CROSS JOIN LATERAL (${subscribers}) AS e
    GROUP BY tenant_id, type, patterns
  )`,
    pairs: /* sql */ `SELECT ${pair} FROM accepted AS asked JOIN subscribed USING (tenant_id, type, patterns)
      CROSS JOIN LATERAL unnest(${lists.map((name) => `${name}s`).join(", ")}) AS e (${lists.join(", ")})`,
  };
}

function acceptEventsSql(kind: Kind): string {
  const { haveExtras } = kind;
  const { parts, pairs } = pairsSql(kind);
  const due = haveExtras ? ", due.version" : "";
  const column = haveExtras ? ", version" : "";
  // The first version is stored as null.
  const stored = haveExtras ? ", nullif(version, 1)" : "";
  return /* sql */ `WITH ${acceptedSql(kind)}${parts}, due AS MATERIALIZED (
    SELECT tenant_id, endpoint_id, postern.uuid_v7() AS id, event_id, type,
      held, NOT held AND endpoint_id = ANY ($6::uuid[]) AS parked,
      $7::uuid IS NOT NULL AND NOT held AND NOT endpoint_id = ANY ($6::uuid[])
        AND ${inSlots("endpoint_id", "$9")} AS leased${column}
    FROM (${pairs}) AS pair
  ), dispatched AS (
    INSERT INTO postern.dispatches
      (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner, parked, held${column})
    SELECT tenant_id, endpoint_id, id, event_id, type, 1, now() + $8 * interval '1 ms',
      now() + CASE WHEN leased THEN ${LEASE_MS} ELSE $8 END * interval '1 ms',
      CASE WHEN leased THEN $7::uuid END, parked, held${stored}
    FROM due
  ), stored AS (
    INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count${haveExtras ? ", version, versions, traceparent" : ""})
    SELECT tenant_id, id, type, body, coalesce(fan_out.count, 0)${haveExtras ? `${stored}, others::json, traceparent` : ""}
    FROM accepted LEFT JOIN (SELECT event_id, count(*) FROM due GROUP BY event_id) AS fan_out
      ON fan_out.event_id = accepted.id
  )
  SELECT accepted.id AS event_id, due.id AS dispatch_id, due.endpoint_id,
    CASE WHEN NOT due.held THEN due.parked END AS parked, due.leased${due},
    -- Heard when this commits, and once however many rows say it. It wakes the workers that have neighbours of the slot.
    CASE WHEN due.held THEN pg_notify('${FETCH_CHANNEL}', due.endpoint_id::text)
      WHEN NOT due.leased AND ($7::uuid IS NULL OR NOT due.parked) THEN pg_notify('${WAKE_CHANNEL}',
        'slots ' || get_byte(uuid_send(due.endpoint_id), 15) / ${NEIGHBOURS})
      END
  FROM accepted LEFT JOIN due ON due.event_id = accepted.id`;
}

/** Made once for each kind: PostgreSQL's client compares the text at each use of the name. */
const TEXTS = new Map<string, string>();

function statementOf(kind: Kind): { name: string; text: string } {
  const name = nameOf(kind);
  const text = TEXTS.get(name) ?? acceptEventsSql(kind);
  TEXTS.set(name, text);
  return { name, text };
}

function nameOf({ areKeyed, haveExtras, mustBeHere, areAlike }: Kind): string {
  const words = [
    areKeyed && "keyed",
    haveExtras && "extra",
    mustBeHere && "here",
    areAlike && "alike",
  ].filter(Boolean);
  return `accept-events-${words.join("-") || "plain"}`;
}

function kindOf(events: readonly NewEvent[], residents: Residents | null): Kind {
  return {
    areKeyed: events.some(({ idempotencyKey }) => idempotencyKey !== null),
    haveExtras: events.some(
      ({ version, others, traceparent }) => version !== 1 || others !== null || traceparent !== undefined,
    ),
    mustBeHere: residents !== null,
    areAlike: areAlike(events),
  };
}

function areAlike(events: readonly NewEvent[]): boolean {
  if (events.length < ALIKE_FROM) return false;
  const kinds = new Set(events.map(({ tenantId, patterns }) => `${tenantId} ${patterns.join(" ")}`));
  return events.length >= ALIKE_FROM * kinds.size;
}

/** Ids, tenants, types and bodies. */
function eventArrays(events: readonly NewEvent[]): Buffer[] {
  return [
    uuidArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.tenantId)),
    textArray(events.map((event) => event.type)),
    textArray(events.map((event) => event.body)),
  ];
}

/** Quoted, since a type may be named `null`. A pattern has neither quotes nor backslashes. */
function arrayLiteral(patterns: readonly string[]): string {
  return `{"${patterns.join('","')}"}`;
}

function keyArray(events: readonly NewEvent[]): Buffer {
  return textArray(events.map((event) => event.idempotencyKey));
}

function versionArrays(events: readonly NewEvent[]): Buffer[] {
  return [
    int2Array(events.map(({ version }) => version)),
    textArray(events.map(({ others }) => (others === null ? null : JSON.stringify(others)))),
  ];
}

/**
 * One statement, and so one commit, for the events of many requests: claims
 * their idempotency keys, fans each event out to the endpoints subscribed at
 * this moment, and stores both. Subscription is an overlap of arrays: the
 * endpoint's patterns and the patterns that match the type.
 */
export async function acceptEvents(
  db: Db,
  events: readonly NewEvent[],
  {
    leaseId,
    slots,
    parked,
    firstDelayMs,
    lockWaitMs = null,
    residents = null,
  }: {
    leaseId: string | null;
    /** In which dispatches are leased under that id. */
    slots: SlotSet;
    parked: readonly EndpointId[];
    firstDelayMs: number;
    lockWaitMs?: number | null;
    /** Of which the statement fails with PS001 where one lives elsewhere; null: that is known. */
    residents?: Residents | null;
  },
): Promise<Acceptance> {
  const leaseEndsMs = performance.now() + LEASE_MS;
  const kind = kindOf(events, residents);
  const keys = [lockWaitMs === null ? null : `${lockWaitMs}ms`, keyArray(events)];
  const { rows } = await db.query<AcceptedRow>({
    ...statementOf(kind),
    values: [
      ...eventArrays(events),
      textArray(events.map(({ patterns }) => arrayLiteral(patterns))),
      uuidArray(parked),
      leaseId,
      firstDelayMs,
      slots.bits,
      ...(kind.areKeyed ? keys : []),
      ...(kind.haveExtras
        ? [...versionArrays(events), textArray(events.map(({ traceparent }) => traceparent ?? null))]
        : []),
      ...(residents === null ? [] : [textArray(residents.tenantIds), `{${residents.versions.join(",")}}`]),
    ],
  });
  return toAcceptance(rows, events, { leaseId, leaseEndsMs });
}

function toAcceptance(
  rows: AcceptedRow[],
  events: readonly NewEvent[],
  { leaseId, leaseEndsMs }: { leaseId: string | null; leaseEndsMs: number },
): Acceptance {
  const given = new Map(events.map((event) => [event.id, event]));
  const dispatchCounts = new Map<EventId, number>();
  const leased: LeasedDispatch[] = [];
  const parked = new Map<EndpointId, EndpointKey>();
  const unleased = new Set<EndpointId>();
  for (const row of rows) {
    const event = given.get(row.event_id);
    if (event === undefined) continue;
    dispatchCounts.set(event.id, (dispatchCounts.get(event.id) ?? 0) + (row.dispatch_id === null ? 0 : 1));
    if (row.parked === null) continue;
    const { dispatch_id: id, endpoint_id: endpointId, version = event.version } = row;
    const { tenantId } = event;
    if (row.parked) parked.set(endpointId, { tenantId, endpointId });
    else if (leaseId !== null && row.leased) {
      leased.push({
        id,
        tenantId,
        endpointId,
        eventId: event.id,
        eventType: event.type,
        body: bodyOf(event, version),
        attempt: 1,
        once: false,
        ...(event.traceparent === undefined ? {} : { traceparent: event.traceparent }),
        leaseId,
        leaseEndsMs,
      });
    } else unleased.add(endpointId);
  }
  // In the order of publishing: event ids of a process are made one after another.
  leased.sort((one, other) => (one.eventId < other.eventId ? -1 : 1));
  return {
    accepted: [...dispatchCounts].map(([id, dispatchCount]) => ({ id, dispatchCount })),
    leased,
    parked: [...parked.values()],
    unleased: [...unleased],
  };
}

/** Claims the keys of events that other statements of the transaction accept; answers those whose key was free. */
export async function claimKeys(
  db: Db,
  events: readonly NewEvent[],
  lockWaitMs: number | null,
): Promise<Set<EventId>> {
  const { rows } = await db.query<{ event_id: EventId }>({
    name: "claim-keys",
    text: /* sql */ `WITH patience AS MATERIALIZED (${patienceSql("$8")}), given AS MATERIALIZED (
        SELECT given.* FROM patience, unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[])
          AS given (id, tenant_id, type, body, key, version, others)
      )${claimSql(VERSIONS_FINGERPRINT)}`,
    values: [
      ...eventArrays(events),
      keyArray(events),
      ...versionArrays(events),
      lockWaitMs === null ? null : `${lockWaitMs}ms`,
    ],
  });
  return new Set(rows.map(({ event_id }) => event_id));
}

/** The event with a producer's key, or null. */
export async function findEventOfKey(db: Db, tenantId: TenantId, key: string): Promise<EventId | null> {
  const { rows } = await db.query<{ event_id: EventId }>(
    /* sql */ `SELECT event_id FROM postern.idempotency_keys WHERE tenant_id = $1 AND key = $2`,
    [tenantId, key],
  );
  return rows[0]?.event_id ?? null;
}

/** Which of these events are stored already, by their ids. */
export async function findKnownEvents(
  db: Db,
  events: readonly Pick<NewEvent, "id" | "tenantId">[],
): Promise<Set<EventId>> {
  const { rows } = await db.query<{ id: EventId }>({
    name: "find-known-events",
    text: /* sql */ `SELECT known.id FROM unnest($1::uuid[], $2::text[]) AS given (id, tenant_id)
      CROSS JOIN LATERAL (
        SELECT id FROM postern.events WHERE id = given.id AND tenant_id = given.tenant_id OFFSET 0
      ) AS known`,
    values: [uuidArray(events.map(({ id }) => id)), textArray(events.map(({ tenantId }) => tenantId))],
  });
  return new Set(rows.map(({ id }) => id));
}

/** What the idempotency keys of these events already stand for; absent where a key is free again. */
export async function findEarlierEvents(
  db: Db,
  events: readonly NewEvent[],
): Promise<Map<EventId, EarlierEvent>> {
  const { rows } = await db.query<{ asked_id: EventId } & EarlierEvent>(
    /* sql */ `SELECT given.id AS asked_id, k.event_id AS id, e.dispatch_count AS "dispatchCount",
        k.fingerprint = postern.versions_fingerprint(given.type, given.body, given.version, given.others::json)
          AS "sameContent"
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[])
        AS given (id, tenant_id, type, body, key, version, others)
      CROSS JOIN LATERAL (
        SELECT tenant_id, event_id, fingerprint FROM postern.idempotency_keys
        WHERE tenant_id = given.tenant_id AND key = given.key OFFSET 0
      ) AS k
      -- It may still be in the outbox, or dropped with its day, which the key can outlive.
      LEFT JOIN LATERAL (
        SELECT dispatch_count FROM postern.events WHERE id = k.event_id AND tenant_id = k.tenant_id OFFSET 0
      ) AS e ON true`,
    [...eventArrays(events), keyArray(events), ...versionArrays(events)],
  );
  return new Map(rows.map(({ asked_id, ...earlier }) => [asked_id, earlier]));
}
