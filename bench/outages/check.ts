/** What must hold after any number of outages. */
import { eventually } from "../../test/support/eventually.ts";
import type { Installation } from "./installation.ts";

/** Each counts what there must not be. */
export type Findings = {
  /** Accepted events that no receiver saw. */
  lost: number;
  /** Requests that a receiver saw and no log has. */
  unlogged: number;
  /** Events that are stored more than once. */
  doubled: number;
  /** Requests at an endpoint of another tenant than the event's. */
  misdelivered: number;
  /** Tenants with rows in both shards. */
  inTwoShards: number;
};

/** What is on its way: in the queue, the outbox, or between shards. */
const ON_ITS_WAY = `SELECT FROM postern.dispatches UNION ALL SELECT FROM postern.outbox
  UNION ALL SELECT FROM postern.handovers LIMIT 1`;
const KEYS = `SELECT body::json->'data'->>'key' AS key FROM postern.events`;
const TENANTS = `SELECT tenant_id FROM postern.endpoints UNION SELECT tenant_id FROM postern.events
  UNION SELECT tenant_id FROM postern.deliveries`;

/** Waits until nothing is on its way. */
export async function settle({ shards, stream }: Installation): Promise<void> {
  await eventually(async () => stream === null || (await stream.messages()) === 0);
  for (const { pair } of shards) {
    await eventually(async () => (await pair.primary.sql(ON_ITS_WAY)).length === 0);
  }
}

export async function check(
  { shards, receiver }: Installation,
  accepted: readonly string[],
): Promise<Findings> {
  const inEach = (sql: string, column: string) =>
    Promise.all(
      shards.map(async ({ pair }) => (await pair.primary.sql(sql)).map((row) => String(row[column]))),
    );
  const requests = receiver.requests.map(({ path, headers, body }) => ({
    tid: path.split("/").at(-1),
    key: String(JSON.parse(body.toString()).data.key),
    deliveryId: String(headers["x-service-delivery"]),
  }));
  const seen = new Set(requests.map(({ key }) => key));
  const logged = new Set((await inEach("SELECT id FROM postern.deliveries", "id")).flat());
  const stored = (await inEach(KEYS, "key")).flat();
  const tenants = (await inEach(TENANTS, "tenant_id")).flat();
  return {
    lost: accepted.filter((key) => !seen.has(key)).length,
    unlogged: requests.filter(({ deliveryId }) => !logged.has(deliveryId)).length,
    doubled: stored.length - new Set(stored).size,
    misdelivered: requests.filter(({ tid, key }) => !key.startsWith(`${tid}.`)).length,
    inTwoShards: tenants.length - new Set(tenants).size,
  };
}
