/** One slice of a search of the log: the newest rows of each stream that may hold what is looked for. */
import { hash } from "node:crypto";
import type { Db } from "../database/pool.ts";
import { DISPATCH_TRIGGER } from "../queue/dispatch-trigger.ts";
import type { DeliveryId, TenantId } from "../shared/id.ts";
import type { DeliveryKey, IdRange } from "./delivery.ts";
import type { LogQuery, Streams } from "./search-filter.ts";

export type Slice = {
  found: DeliveryKey[];
  /** How many rows were looked at. */
  looked: number;
  /** All rows from here on were looked at; null where no older ones are left. */
  lookedTo: DeliveryId | null;
};

const COLUMNS = /* sql */ `d.endpoint_id, d.id, d.event_id, d.event_type, d.version, d.trigger, d.status, d.response_status, d.error`;
const NEWEST = /* sql */ `d.id >= $2 AND d.id < $3 ORDER BY d.id DESC LIMIT $4`;

/** The values of a statement and their places in its text; the first four are of every slice. */
class Values {
  readonly list: unknown[];
  constructor(list: unknown[]) {
    this.list = list;
  }
  add(value: unknown): string {
    return `$${this.list.push(value)}`;
  }
}

/**
 * Reads the newest `most` rows of each stream within a range, and returns the
 * newest `limit` matches. Rows that not all streams have reached are not
 * returned, so the next slice continues at `lookedTo` and misses nothing.
 */
export async function searchSlice(
  db: Db,
  tenantId: TenantId,
  { streams, fits }: LogQuery,
  slice: { range: IdRange; most: number; limit: number },
): Promise<Slice> {
  const { range, most, limit } = slice;
  const values = new Values([tenantId, range.from, range.to, most]);
  const text = /* sql */ `WITH looked AS MATERIALIZED (${legs(streams, values).join(" UNION ALL ")}),
    ends AS (
      SELECT sum(count)::int AS looked, (max(last) FILTER (WHERE count >= most))::uuid AS "lookedTo" FROM (
        SELECT count(*) AS count, min(id::text COLLATE "C") AS last, most FROM looked GROUP BY stream, most
      ) AS streams
    )
    SELECT ends.looked, ends."lookedTo", found."endpointId", found.id FROM ends LEFT JOIN LATERAL (
      SELECT endpoint_id AS "endpointId", id FROM looked
      WHERE ${['(ends."lookedTo" IS NULL OR id >= ends."lookedTo")', ...fits((value) => values.add(value))].join(" AND ")}
      ORDER BY id DESC LIMIT ${values.add(limit)}
    ) AS found ON true`;
  const { rows } = await db.query<
    { looked: number | null; lookedTo: DeliveryId | null } & (DeliveryKey | { id: null })
  >({ name: `search-${hash("sha1", text).slice(0, 16)}`, text, values: values.list });
  const found = rows.flatMap((row) => (row.id === null ? [] : [{ endpointId: row.endpointId, id: row.id }]));
  return { found, looked: rows[0]?.looked ?? 0, lookedTo: rows[0]?.lookedTo ?? null };
}

/** What is read of both halves of the log; each row with the stream that it is of, and how many that may have. */
function legs(streams: Streams, values: Values): string[] {
  const made: string[] = [];
  if (streams.logged !== null) made.push(loggedLeg(streams, streams.logged, values));
  if (streams.pending) made.push(pendingLeg(streams, values), sendingLeg(streams, values));
  return made;
}

function loggedLeg(
  { endpointIds, eventId }: Streams,
  statuses: NonNullable<Streams["logged"]>,
  values: Values,
): string {
  if (eventId !== null) {
    // An event has few rows: they are sorted, so that no index of times can seem the better one.
    return /* sql */ `(SELECT '' AS stream, $4::bigint AS most, ${COLUMNS} FROM (
        SELECT * FROM postern.deliveries d WHERE d.event_id = ${values.add(eventId)} AND d.tenant_id = $1 OFFSET 0
      ) AS d WHERE ${NEWEST})`;
  }
  const streams = [];
  const conditions = [];
  // The other collation is that of the indexes that lead from a tenant, not an endpoint, to its rows.
  if (endpointIds === null) conditions.push(`d.tenant_id COLLATE "C" = $1`);
  else {
    streams.push(/* sql */ `unnest(${values.add(endpointIds)}::uuid[]) AS of_endpoint (endpoint_id)`);
    conditions.push("d.tenant_id = $1 AND d.endpoint_id = of_endpoint.endpoint_id");
  }
  if (statuses !== "any") {
    streams.push(/* sql */ `unnest(${values.add(statuses)}::text[]) AS of_status (status)`);
    conditions.push("d.status = of_status.status AND d.status <> 'delivered'");
  }
  const newest = /* sql */ `SELECT ${COLUMNS} FROM postern.deliveries d WHERE ${conditions.join(" AND ")} AND ${NEWEST}`;
  const name = [
    endpointIds === null ? "''" : "of_endpoint.endpoint_id::text",
    statuses === "any" ? "''" : "of_status.status",
  ];
  return /* sql */ `(SELECT ${name.join(" || ")} AS stream, $4::bigint AS most, d.*
    FROM ${[...streams, /* sql */ `LATERAL (${newest}) AS d`].join(" CROSS JOIN ")})`;
}

/** By endpoint, as the key of `dispatches` has it: another index would cost each publisher. */
function pendingLeg({ endpointIds }: Streams, values: Values): string {
  const given = endpointIds === null ? null : values.add(endpointIds);
  const endpoints =
    given === null
      ? /* sql */ `SELECT id FROM postern.endpoints WHERE tenant_id = $1 AND deleted_at IS NULL`
      : /* sql */ `SELECT unnest(${given}::uuid[]) AS id`;
  // All of a tenant's endpoints share what a slice may look at.
  const most =
    given === null
      ? /* sql */ `greatest(1, $4::bigint / greatest(1, (SELECT count(*) FROM (${endpoints}) AS e)))`
      : "$4::bigint";
  return /* sql */ `(SELECT 'pending ' || of_endpoint.id AS stream, ${most} AS most, d.*
    FROM (${endpoints}) AS of_endpoint CROSS JOIN LATERAL (
      SELECT d.endpoint_id, d.id, d.event_id, d.event_type, d.version,
        ${DISPATCH_TRIGGER} AS trigger, 'pending' AS status,
        NULL::smallint AS response_status, NULL::text AS error
      FROM postern.dispatches d
      WHERE d.tenant_id = $1 AND d.endpoint_id = of_endpoint.id AND NOT d.superseded
        AND d.id >= $2 AND d.id < $3 ORDER BY d.id DESC LIMIT ${most}) AS d)`;
}

/** Tests and retries of persons that are being sent: few, since each is here for its 15 seconds at most. */
function sendingLeg({ endpointIds }: Streams, values: Values): string {
  const ofEndpoints =
    endpointIds === null ? "" : /* sql */ `AND d.endpoint_id = ANY (${values.add(endpointIds)}::uuid[])`;
  return /* sql */ `(SELECT 'sending' AS stream, $4::bigint AS most, d.endpoint_id, d.id, d.event_id, d.event_type,
      d.version, d.trigger, 'pending' AS status, NULL::smallint AS response_status, NULL::text AS error
    FROM postern.person_sends d WHERE d.tenant_id = $1 ${ofEndpoints} AND ${NEWEST})`;
}
