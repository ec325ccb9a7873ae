/**
 * What the settings of times do in a running service. None has its default here, and what goes by one of
 * them stays by any other, so that a part which does not get its own shows.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeSecrets } from "../src/config.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { eventually } from "./support/eventually.ts";
import { storageOf } from "./support/exports.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const RETENTION_DAYS = 3;
const ARTIFACT_DAYS = 40;
const DISABLE_AFTER_H = 6;
const HOUR_MS = 3_600_000;
/** Each is one row of its table; $1 is its age in days, $2 its name. */
const KEPT: readonly { what: string; insert: string; left: string }[] = [
  {
    what: "replays",
    insert: `INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, event_type, status, counted,
        is_capped, after_event_id, counted_to, finished_at)
      SELECT 'acme', gen_random_uuid(), gen_random_uuid(), now() - interval '1 h', now(), 'all', $2, 'finished', 0, false,
        gen_random_uuid(), gen_random_uuid(), now() - make_interval(days => $1)`,
    left: "SELECT event_type AS name FROM postern.replays",
  },
  {
    what: "sets of headers",
    insert: "INSERT INTO postern.header_sets SELECT $2, gen_random_uuid(), '{}', current_date - $1::int",
    left: "SELECT tenant_id AS name FROM postern.header_sets WHERE tenant_id IN ('stays', 'goes')",
  },
  {
    what: "statistics",
    insert: `INSERT INTO postern.delivery_stats
      SELECT 'acme', gen_random_uuid(), 1440, date_trunc('day', now() - make_interval(days => $1)), $2, 1, 1, 1, 1,
        gen_random_uuid(), gen_random_uuid()`,
    left: "SELECT cause AS name FROM postern.delivery_stats WHERE cause IN ('stays', 'goes')",
  },
  {
    what: "deleted endpoints",
    insert: `INSERT INTO postern.endpoints SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(),
        'description', $2::text, 'deleted_at', now() - make_interval(days => $1), 'enabled', false,
        'disabled_reason', 'manual'))).* FROM postern.endpoints e LIMIT 1`,
    left: "SELECT description AS name FROM postern.endpoints WHERE description IN ('stays', 'goes')",
  },
  {
    what: "links to stored objects",
    insert: `INSERT INTO postern.storage_grants
      SELECT $2, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() - interval '40 days',
        now() - make_interval(days => $1)`,
    left: "SELECT tenant_id AS name FROM postern.storage_grants",
  },
];

const secrets = makeSecrets();
let database: TestDatabase;
let receiver: TlsReceiver;
let api: TestService;
let worker: TestService | null = null;

const start = (role: "api" | "worker") =>
  startTestService({
    database,
    receiver,
    roles: [role],
    env: {
      ...secrets,
      RETENTION_DAYS: String(RETENTION_DAYS),
      ARTIFACT_DAYS: String(ARTIFACT_DAYS),
      DISABLE_AFTER: `${DISABLE_AFTER_H}h`,
    },
  });

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

let pullId: string;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  api = await start("api");
  const { url } = receiver;
  const pull = await createEndpoint(api, { mode: "pull", url, events: ["invoice.paid"] });
  pullId = pull.endpoint.id;
  for (const [name, days] of [
    ["goes", 4],
    ["stays", 2],
  ] as const) {
    const { id } = await publish(api, "invoice.paid", { data: { name } });
    await sql(
      "UPDATE postern.dispatches SET claimable_at = now() - make_interval(days => $2) WHERE event_id = $1",
      [id, days],
    );
  }
  for (const { insert } of KEPT) {
    await sql(insert, [2, "stays"]);
    await sql(insert, [7, "goes"]);
  }
  await createEndpoint(api, { url, events: ["endpoint.failing"] });
  const failing = await createEndpoint(api, { url, events: ["invoice.sent"] });
  await sql("UPDATE postern.endpoints SET failing_since = now() - interval '2 hours' WHERE id = $1", [
    failing.endpoint.id,
  ]);
  const json = { keep_request_bodies: true, keep_response_bodies: false, artifact_days: null };
  await storageOf(api).call("PUT", "/settings", { json });
  const range = { from: new Date(Date.now() - HOUR_MS).toISOString(), to: new Date().toISOString() };
  await storageOf(api).call("POST", "/exports", { json: range });
  await createEndpoint(api, { url, events: ["customer.created"] });
  await publish(api, "customer.created");
  worker = await start("worker");
});
after(async () => {
  await worker?.stop();
  await api.stop();
  await receiver.close();
  await database.drop();
});

describe("by its settings a worker", () => {
  for (const { what, left } of KEPT)
    it(`forgets ${what}`, { timeout: 20_000 }, async () => {
      const rows = await eventually(async () => {
        const found = (await sql(left)).rows;
        return found.length < 2 && found;
      });
      assert.deepEqual(rows, [{ name: "stays" }]);
    });

  it("ends what no client has fetched", { timeout: 20_000 }, async () => {
    const log = await eventually(async () => {
      const found = await listDeliveries(api, pullId);
      return found.some(({ status }) => status === "failed") && found;
    });
    assert.deepEqual(
      log.map(({ status, error, request_body: body }) => [status, error, body?.includes("goes")]),
      [
        ["pending", null, false],
        ["failed", "not_fetched", true],
      ],
    );
  });

  it("tells when a failing endpoint will be disabled", { timeout: 20_000 }, async () => {
    const { body } = await eventually(async () =>
      receiver.requests.find(({ headers }) => headers["x-service-event"] === "endpoint.failing"),
    );
    const { data } = JSON.parse(body.toString());
    assert.equal(Date.parse(data.disabled_after) - Date.parse(data.failing_since), DISABLE_AFTER_H * HOUR_MS);
  });

  for (const [what, kind] of [
    ["bodies", "request_body"],
    ["exports", "export"],
  ] as const)
    it(`keeps ${what}`, { timeout: 20_000 }, async () => {
      const item = await eventually(async () =>
        (await storageOf(api).library()).items.find((one) => one.kind === kind),
      );
      const keptMs = Date.parse(item.expires_at ?? "") - Date.parse(item.available_at);
      assert.equal(keptMs, ARTIFACT_DAYS * 24 * HOUR_MS);
    });
});
