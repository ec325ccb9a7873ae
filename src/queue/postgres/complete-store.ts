import {
  boolArray,
  byteaArray,
  float8Array,
  int2Array,
  int4Array,
  textArray,
  timestamptzArray,
  uuidArray,
} from "../../database/binary-arrays.ts";
import type { Db } from "../../database/pool.ts";
import type { DeliveryId } from "../../shared/id.ts";
import { DISPATCH_TRIGGER } from "../dispatch-trigger.ts";
import { distinctSets, HeaderSets, unpacked, type StoredHeaders } from "./header-sets.ts";
import { isRowOf, lockOption, withLeased } from "./key-look-up.ts";
import { leaseArrays } from "./release-store.ts";
import type { CompletedLease } from "../queue.ts";

const COLUMNS = `tenant_id, endpoint_id, id, lease_id, status, response_status, response_body, latency_ms,
        error, sent_at`;
const ARRAYS = `$1::text[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::smallint[], $7::text[],
        $8::integer[], $9::text[], $10::timestamptz[]`;

// Most attempts are the last of their event there. What a next one needs is paid even where none is, so it is left out then.
const NEXT = { columns: "next_delay_ms", types: ["float8[]"] };
// The same for what a tenant keeps of its attempts.
const KEPT = {
  columns: "keep_request, keep_response, keep_days",
  types: ["boolean[]", "bytea[]", "integer[]"],
};
// And for events whose last automatic attempt failed.
const EXHAUSTED = { columns: "exhausted", types: ["boolean[]"] };
// And for headers that no set has.
const INLINE = { columns: "request_headers, response_headers", types: ["text[]", "text[]"] };
const PACKED = { columns: "header_set, header_values", types: ["uuid[]", "bytea[]"] };
// The sets come between the attempts and what only some attempts need.
const FIRST_SET = 11;
const FIRST_EXTRA = { worker: 14, tenant: 11 };

/** As which role it runs: for workers of all tenants, or for one tenant's clients, who add no sets. */
type Role = "worker" | "tenant";
type Kind = { goesOn: boolean; keeps: boolean; exhausts: boolean; inlines: boolean; role: Role };

/** The attempts as a table, of the columns that their kind needs. */
function givenSql({ goesOn, keeps, exhausts, inlines, role }: Kind): string {
  const extras = [
    ...(role === "worker" ? [PACKED] : []),
    ...(inlines ? [INLINE] : []),
    ...(goesOn ? [NEXT] : []),
    ...(keeps ? [KEPT] : []),
    ...(exhausts ? [EXHAUSTED] : []),
  ];
  const arrays = extras
    .flatMap(({ types }) => types)
    .map((type, n) => `, $${FIRST_EXTRA[role] + n}::${type}`);
  const columns = extras.map((extra) => `, ${extra.columns}`);
  return `unnest(${ARRAYS}${arrays.join("")}) AS given (${COLUMNS}${columns.join("")})`;
}

function readyLastSql(kind: Kind): string {
  return /* sql */ `ready AS MATERIALIZED (
      SELECT given.*, false AS may_go_on FROM ${givenSql(kind)}
      ORDER BY tenant_id, endpoint_id, id
    )`;
}

// One that a row of this statement needs and that was not used today is added, or its day is changed. In one order
// everywhere: concurrent statements with the same sets wait for each other, never crosswise.
const ADDED_SETS = /* sql */ `, added_sets AS (
      INSERT INTO postern.header_sets AS known (tenant_id, id, headers, used_on)
      SELECT tenant_id, id, headers::json, today
      FROM unnest($${FIRST_SET}::text[], $${FIRST_SET + 1}::uuid[], $${FIRST_SET + 2}::text[]) AS needed (tenant_id, id, headers),
        (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS moment
      WHERE (SELECT used_on FROM postern.header_sets WHERE tenant_id = needed.tenant_id AND id = needed.id) >= today IS NOT TRUE
        AND (tenant_id, id) IN (SELECT tenant_id, header_set FROM done)
      ORDER BY tenant_id, id
      ON CONFLICT (tenant_id, id) DO UPDATE SET used_on = greatest(known.used_on, EXCLUDED.used_on)
    )`;

const NOTED = /* sql */ `, noted AS (
      INSERT INTO postern.bodies_to_keep (tenant_id, endpoint_id, delivery_id, attempt, kind, body, days)
      SELECT tenant_id, endpoint_id, id, attempt, kind, body, keep_days
      FROM done CROSS JOIN LATERAL (VALUES
        ('request_body', NULL::bytea, keep_request), ('response_body', keep_response, keep_response IS NOT NULL)
      ) AS kept (kind, body, is_kept)
      WHERE is_kept
    )`;

const COUNTED = /* sql */ `, counted AS (
      INSERT INTO postern.exhausted_events (tenant_id, endpoint_id, count, delivery_id, event_id, event_type)
      SELECT DISTINCT ON (tenant_id, endpoint_id) tenant_id, endpoint_id,
        count(*) OVER (PARTITION BY tenant_id, endpoint_id), id, event_id, event_type
      FROM done WHERE exhausted AND NOT superseded
      ORDER BY tenant_id, endpoint_id, id DESC
    )`;

const FOLLOWED = /* sql */ `, followed AS (
      INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, version, attempt, due_at, claimable_at, held)
      SELECT tenant_id, endpoint_id, postern.uuid_v7(), event_id, event_type, version, attempt + 1,
        now() + next_delay_ms * interval '1 ms', now() + next_delay_ms * interval '1 ms', held OR is_held
      FROM done WHERE goes_on
    )`;

/** Of this process: what it forgets or learns twice changes no answer. */
const headerSets = new HeaderSets();

/**
 * In one statement: each dispatch whose lease is still the attempt's goes, its outcome
 * is logged under the same id, and the next attempt's dispatch comes where one
 * is due and nothing made it needless meanwhile. Sets of headers that it names are
 * there when it is. What is kept of it is noted, and exhausted events are counted.
 *
 * Endpoints that get a next attempt are locked before their dispatches are,
 * and dispatches in the order of their key: deleting an endpoint takes the same
 * locks in the same order, so neither a deadlock nor a dispatch without its
 * endpoint can come of the two. A batch of delivered outcomes locks no
 * endpoint, so for it the order of the dispatches is all there is.
 *
 * Whether an endpoint was deleted, or holds its dispatches by now, as one that this very
 * attempt had disabled, is read with its lock: an endpoint whose lock
 * another transaction has is neither alive nor deleted, and with `skip` what
 * needs to know is left for another call.
 */
export async function completeAttempts(
  db: Db,
  attempts: readonly CompletedLease[],
  whenLocked: "skip" | "wait",
  role: Role = "worker",
): Promise<Set<DeliveryId>> {
  const goesOn = attempts.some((attempt) => attempt.nextDelayMs !== null);
  const keeps = attempts.some((attempt) => attempt.toKeep !== null);
  const exhausts = attempts.some((attempt) => attempt.exhausted);
  const headers = attempts.map((attempt) =>
    role === "worker" ? headerSets.pack(attempt) : unpacked(attempt),
  );
  const inlines = headers.some((stored) => stored.requestHeaders !== null || stored.responseHeaders !== null);
  const shape = `${goesOn ? "going-on" : "last"}${inlines ? "-inlining" : ""}${keeps ? "-keeping" : ""}${exhausts ? "-exhausting" : ""}-${whenLocked}-${role}`;
  const { rows } = await db.query<{ id: DeliveryId }>({
    // At most 63 characters, all that PostgreSQL tells apart.
    name: `complete-${shape}`,
    text: completeAttemptsSql({ goesOn, keeps, exhausts, inlines, role }, whenLocked),
    values: [
      ...leaseArrays(attempts.map((attempt) => attempt.dispatch)),
      textArray(attempts.map((attempt) => attempt.status)),
      int2Array(attempts.map((attempt) => attempt.responseStatus)),
      textArray(attempts.map((attempt) => attempt.responseBody)),
      int4Array(attempts.map((attempt) => attempt.latencyMs)),
      textArray(attempts.map((attempt) => attempt.error)),
      timestamptzArray(attempts.map((attempt) => attempt.sentAt)),
      ...(role === "worker" ? packedArrays(headers) : []),
      ...(inlines ? inlineArrays(headers) : []),
      ...(goesOn ? [float8Array(attempts.map((attempt) => attempt.nextDelayMs))] : []),
      ...(keeps ? keptArrays(attempts) : []),
      ...(exhausts ? [boolArray(attempts.map(({ exhausted }) => exhausted))] : []),
    ],
  });
  return new Set(rows.map((row) => row.id));
}

function packedArrays(headers: readonly StoredHeaders[]): unknown[] {
  const sets = distinctSets(headers);
  return [
    textArray(sets.map(({ tenantId }) => tenantId)),
    uuidArray(sets.map(({ id }) => id)),
    textArray(sets.map(({ text }) => text)),
    uuidArray(headers.map(({ set }) => set?.id ?? null)),
    byteaArray(headers.map(({ values }) => values)),
  ];
}

function inlineArrays(headers: readonly StoredHeaders[]): unknown[] {
  return [
    textArray(headers.map(({ requestHeaders }) => requestHeaders)),
    textArray(headers.map(({ responseHeaders }) => responseHeaders)),
  ];
}

function keptArrays(attempts: readonly CompletedLease[]): unknown[] {
  return [
    boolArray(attempts.map(({ toKeep }) => toKeep?.requestBody ?? false)),
    byteaArray(attempts.map(({ toKeep }) => toKeep?.responseBody ?? null)),
    int4Array(attempts.map(({ toKeep }) => toKeep?.days ?? null)),
  ];
}

function readyGoingOnSql(kind: Kind, whenLocked: "skip" | "wait"): string {
  return /* sql */ `given AS MATERIALIZED (
      SELECT * FROM ${givenSql(kind)}
    ), endpoint AS MATERIALIZED (
      SELECT e.* FROM (
        SELECT DISTINCT tenant_id, endpoint_id FROM given WHERE next_delay_ms IS NOT NULL ORDER BY 1, 2
      ) AS wanted CROSS JOIN LATERAL (
        SELECT tenant_id, id, deleted_at IS NULL AS is_alive, NOT enabled OR mode = 'pull' OR moving AS is_held
        FROM postern.endpoints
        WHERE tenant_id = wanted.tenant_id AND id = wanted.endpoint_id
        FOR SHARE ${lockOption(whenLocked)}
      ) AS e
    ), ready AS MATERIALIZED (
      -- To sort all of them has every endpoint locked before the first dispatch.
      SELECT given.*, given.next_delay_ms IS NOT NULL AND endpoint.is_alive AS may_go_on, endpoint.is_held
      FROM given LEFT JOIN endpoint
        ON endpoint.tenant_id = given.tenant_id AND endpoint.id = given.endpoint_id
      WHERE given.next_delay_ms IS NULL OR endpoint.id IS NOT NULL
      ORDER BY given.tenant_id, given.endpoint_id, given.id
    )`;
}

const OF_DISPATCH = /* sql */ `locked.*, d.event_id, d.event_type, d.version, d.attempt, d.once, d.replay_id, d.held, d.superseded,
        locked.may_go_on AND NOT d.superseded AS goes_on`;
const DONE: Record<Role, string> = {
  worker: /* sql */ `done AS (
      DELETE FROM postern.dispatches d USING locked WHERE ${isRowOf("locked")} RETURNING ${OF_DISPATCH}
    )`,
  // Not by a join: the policy compares the tenant with a constant, by which all of its rows could be read for one.
  // A client's attempts are of one endpoint. The range bounds what is read where a plan takes the list as a filter.
  tenant: /* sql */ `deleted AS (
      DELETE FROM postern.dispatches
      WHERE tenant_id = ($1::text[])[1] AND endpoint_id = ($2::uuid[])[1]
        AND id >= (SELECT id FROM locked ORDER BY id LIMIT 1) AND id <= (SELECT id FROM locked ORDER BY id DESC LIMIT 1)
        AND id = ANY (ARRAY(SELECT id FROM locked))
      RETURNING id, event_id, event_type, version, attempt, once, replay_id, held, superseded
    ), done AS (
      SELECT ${OF_DISPATCH} FROM locked JOIN deleted d ON d.id = locked.id
    )`,
};

function completeAttemptsSql(kind: Kind, whenLocked: "skip" | "wait"): string {
  const packs = kind.role === "worker";
  // Releases before sets need an object there.
  const request = kind.inlines ? "coalesce(request_headers, '{}')::json" : "'{}'";
  return /* sql */ `WITH ${kind.goesOn ? readyGoingOnSql(kind, whenLocked) : readyLastSql(kind)}, locked AS MATERIALIZED (
      ${withLeased("ready", whenLocked)}
    ), ${DONE[kind.role]}, logged AS (
      INSERT INTO postern.deliveries
        (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt, request_headers,
         response_status, response_headers, response_body, latency_ms, error, sent_at, replay_id, version${
           packs
             ? `,
         ${PACKED.columns}`
             : ""
         })
      SELECT tenant_id, endpoint_id, id, event_id, event_type,
        ${DISPATCH_TRIGGER}, status, attempt, ${request},
        response_status, ${kind.inlines ? "response_headers::json" : "NULL"}, response_body, latency_ms, error, sent_at,
        replay_id, version${packs ? `, ${PACKED.columns}` : ""}
      FROM done AS d
    )${packs ? ADDED_SETS : ""}${kind.goesOn ? FOLLOWED : ""}${kind.keeps ? NOTED : ""}${kind.exhausts ? COUNTED : ""}
    SELECT id FROM done`;
}
