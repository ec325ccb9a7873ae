/** `SELECT postern.publish(…)` inside the producer's own transaction. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { createPool } from "../src/database/pool.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { OTHER_OWNER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { clientOf } from "./support/pull.ts";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;
let folder: string;
let endpointId: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-catalog-"));
  const file = join(folder, "catalog.yaml");
  const common = "  title: T\n  description: D\n  group: G\n  payloadShape: {}\n";
  const schema = "  schema: { type: object, required: [order_id] }\n";
  await writeFile(file, `- type: order.placed\n${common}- type: order.checked\n${common}${schema}`);
  service = await startTestService({ env: { EVENT_CATALOG: file } });
  await eventually(
    async () =>
      (await service.database.pool.query("SELECT FROM postern.event_types WHERE type = 'order.placed'"))
        .rowCount === 1,
  );
  const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
  endpointId = endpoint.id;
});
after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

async function publishFromSql(...values: unknown[]): Promise<string> {
  const places = values.map((_, index) => `$${index + 1}`).join(", ");
  const { rows } = await service.database.pool.query(`SELECT postern.publish(${places}) AS id`, values);
  return (
    z
      .array(z.object({ id: z.string() }))
      .length(1)
      .parse(rows)[0]?.id ?? ""
  );
}

function bodiesOf(eventId: string): string[] {
  return service.receiver.requests
    .filter((request) => request.headers["webhook-id"] === eventId)
    .map((request) => request.body.toString("utf8"));
}

describe("postern.publish", () => {
  it("delivers the event when its transaction commits", async () => {
    const id = await publishFromSql("acme", "order.placed", { order_id: "o_1" });
    const [body] = await eventually(async () => bodiesOf(id).length > 0 && bodiesOf(id));
    const sent = JSON.parse(body ?? "");
    assert.deepEqual([sent.id, sent.event, sent.data], [id, "order.placed", { order_id: "o_1" }]);
    assert.equal(new Date(sent.created_at).toISOString(), sent.created_at);
    await eventually(
      async () => (await listDeliveries(service, endpointId, `?event_id=${id}&status=delivered`))[0],
    );
  });

  it("gives events in the order in which one transaction published them", async () => {
    const input = { url: service.receiver.url, mode: "pull" };
    const { endpoint } = await createEndpoint(service, input, { as: OTHER_OWNER });
    const client = clientOf(service, endpoint.id, OTHER_OWNER);
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    await service.database.pool.query(
      "SELECT postern.publish('globex', 'order.placed', jsonb_build_object('n', n)) FROM unnest($1::int[]) AS n",
      [numbers],
    );
    const { events } = await client.lease({ wait_s: 30 });
    assert.deepEqual(
      events.map(({ body }) => JSON.parse(body).data.n),
      numbers,
    );
  });

  it("sends nothing when its transaction rolls back", async () => {
    const client = await service.database.pool.connect();
    await client.query("BEGIN");
    const { rows } = await client.query("SELECT postern.publish('acme', 'order.placed', '{}') AS id");
    await client.query("ROLLBACK");
    client.release();
    const later = await publishFromSql("acme", "order.placed", {});
    await eventually(async () => bodiesOf(later).length > 0);
    assert.deepEqual(bodiesOf(String(rows[0]?.id)), []);
  });

  it("answers the first id for a repeated key and sends nothing new, across SQL and HTTP", async () => {
    const first = await publishFromSql("acme", "order.placed", { a: 1, b: 2 }, "key-1");
    assert.equal(await publishFromSql("acme", "order.placed", { b: 2, a: 1 }, "key-1"), first);
    await eventually(async () => bodiesOf(first).length > 0);
    const repeat = await service.call("POST", "/api/events", {
      as: { type: "service", tid: "acme", permissions: ["events:write"] },
      json: { type: "order.placed", data: { b: 2, a: 1 }, id: "key-1" },
    });
    assert.deepEqual([repeat.status, repeat.body], [200, { id: first, deliveries: 1 }]);
    assert.notEqual(await publishFromSql("globex", "order.placed", { a: 1, b: 2 }, "key-1"), first);
    assert.equal(bodiesOf(first).length, 1);
  });

  const refusals: [string, unknown[], RegExp][] = [
    [
      "another content under a used key",
      ["acme", "order.placed", { a: 2 }, "key-1"],
      /reused with different content/,
    ],
    ["a type that the catalog lacks", ["acme", "order.lost", {}], /unknown event type order\.lost/],
    ["no tenant id", ["a b", "order.placed", {}], /tenant_id must be/],
    ["data that is no object", ["acme", "order.placed", "[]"], /data must be a JSON object/],
    [
      "an event of more than 1 MiB",
      ["acme", "order.placed", { text: "x".repeat(1024 * 1024) }],
      /at most 1 MiB/,
    ],
    ["an overlong key", ["acme", "order.placed", {}, "k".repeat(129)], /1 to 128 characters/],
    [
      "an overlong key of wide characters",
      ["acme", "order.placed", {}, "🔑".repeat(129)],
      /1 to 128 characters/,
    ],
  ];
  for (const [name, values, message] of refusals) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(publishFromSql(...values), message);
    });
  }

  it("rejects data that break the type's schema before fan-out, counted in the metrics", async () => {
    const id = await publishFromSql("acme", "order.checked", { wrong: true });
    const good = await publishFromSql("acme", "order.checked", { order_id: "o_2" });
    await eventually(async () => bodiesOf(good).length > 0);
    assert.deepEqual(bodiesOf(id), []);
    const metrics = await eventually(async () => {
      const { text } = await service.call("GET", "/metrics", { as: null });
      return text.includes('reason="schema"') && text;
    });
    assert.match(metrics, /^webhook_events_rejected_total\{reason="schema"\} 1$/m);
  });

  const brokenData: [string, string, string][] = [
    ["nested 6,000 deep", "too_deep", `{"a":${"[".repeat(6000)}${"]".repeat(6000)}}`],
    ["with a number that no double holds", "number_out_of_range", '{"a":[1e400]}'],
  ];
  for (const [name, reason, data] of brokenData) {
    it(`rejects data ${name} as HTTP does, and relays what comes with them`, async () => {
      const client = await service.database.pool.connect();
      await client.query("BEGIN");
      const { rows } = await client.query<{ bad: string; good: string }>(
        `SELECT postern.publish('acme', 'order.placed', $1) AS bad,
          postern.publish('acme', 'order.placed', '{}') AS good`,
        [data],
      );
      await client.query("COMMIT");
      client.release();
      const [{ bad, good } = { bad: "", good: "" }] = rows;
      await eventually(async () => bodiesOf(good).length > 0);
      const metrics = await eventually(async () => {
        const { text } = await service.call("GET", "/metrics", { as: null });
        return text.includes(`reason="${reason}"`) && text;
      });
      assert.match(metrics, new RegExp(`^webhook_events_rejected_total\\{reason="${reason}"\\} 1$`, "m"));
      const kept = await service.database.pool.query(
        "SELECT id FROM postern.events WHERE id = $1 UNION ALL SELECT id FROM postern.outbox WHERE id = $1",
        [bad],
      );
      assert.deepEqual([kept.rows, bodiesOf(bad)], [[], []]);
      const overHttp = await service.call("POST", "/api/events", {
        as: { type: "service", tid: "acme", permissions: ["events:write"] },
        raw: `{"type":"order.placed","data":${data}}`,
        headers: { "content-type": "application/json" },
      });
      assert.equal(overHttp.status, 400, overHttp.text);
      assert.ok(overHttp.text.includes(reason), overHttp.text);
    });
  }

  it("rejects a type that no worker knows, once any that knows it has had its time", async () => {
    const leave = async (age: string) => {
      const { rows } = await service.database.pool.query<{ id: string }>(
        `INSERT INTO postern.outbox (id, tenant_id, type, body)
          VALUES (postern.lowest_id_at(now() - $1::interval), 'acme', 'order.removed', '{"data":{}}') RETURNING id`,
        [age],
      );
      return rows[0]?.id;
    };
    const [fresh, old] = [await leave("1 minute"), await leave("11 minutes")];
    const later = await publishFromSql("acme", "order.placed", {});
    await eventually(async () => bodiesOf(later).length > 0);
    const metrics = await eventually(async () => {
      const { text } = await service.call("GET", "/metrics", { as: null });
      return text.includes('reason="unknown_event_type"') && text;
    });
    assert.match(metrics, /^webhook_events_rejected_total\{reason="unknown_event_type"\} 1$/m);
    const { rows } = await service.database.pool.query("DELETE FROM postern.outbox RETURNING id");
    assert.deepEqual(rows, [{ id: fresh }]);
    assert.deepEqual(bodiesOf(String(old)), []);
  });

  it("keeps only the same key waiting while its transaction is open", async () => {
    const client = await service.database.pool.connect();
    await client.query("BEGIN");
    const { rows } = await client.query("SELECT postern.publish('acme', 'order.placed', '{}', 'open') AS id");
    const as = { type: "service", tid: "acme", permissions: ["events:write"] };
    const same = service.call("POST", "/api/events", {
      as,
      json: { type: "order.placed", data: {}, id: "open" },
    });
    // Others are answered meanwhile.
    await publish(service, "order.placed");
    await client.query("COMMIT");
    client.release();
    const answer = await same;
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(z.object({ id: z.string() }).parse(answer.body).id, rows[0]?.id);
  });

  it("takes no more than the grants of docs/operating.md, where nobody else may connect", async () => {
    const page = await readFile(join(import.meta.dirname, "..", "docs", "operating.md"), "utf8");
    const [, grants = ""] = /```sql\n(GRANT [^`]*postern_producer[^`]*)```/.exec(page) ?? [];
    const { pool } = service.database;
    const url = new URL(service.database.url);
    const { pathname, password } = url;
    const app = `app_${randomUUID().slice(0, 8)}`;
    await pool.query(`REVOKE CONNECT ON DATABASE ${pathname.slice(1)} FROM PUBLIC`);
    await pool.query(`CREATE ROLE ${app} LOGIN PASSWORD '${password}'`);
    url.username = app;
    const own = createPool({
      url: url.href,
      poolSize: 1,
      applicationName: "app",
      connectionTimeoutMs: 5000,
    });
    const publishAs = () => own.query("SELECT postern.publish('acme', 'order.placed', '{}')");
    try {
      await assert.rejects(publishAs(), { code: "42501" });
      await pool.query(
        grants.replaceAll(/\bapp\b/g, app).replace("DATABASE postern ", `DATABASE ${pathname.slice(1)} `),
      );
      assert.equal((await publishAs()).rowCount, 1);
    } finally {
      await own.end();
      await pool.query(`DROP OWNED BY ${app}`);
      await pool.query(`DROP ROLE ${app}`);
    }
  });

  it("serves beside events published over HTTP", async () => {
    const event = await publish(service, "order.placed");
    await eventually(async () => bodiesOf(event.id).length > 0);
  });
});
