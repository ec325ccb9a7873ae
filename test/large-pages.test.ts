/** Pages of the log whose bodies are large: whole, byte for byte, however slowly they are read, and in little memory. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { createEndpoint, getEndpoint, listDeliveries, publish, type Delivery } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { open } from "./support/raw-http.ts";
import { issueTestToken, OTHER_OWNER, OWNER, type ApiAnswer, type Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";
import type { Environment } from "../src/config.ts";

const MIB = 1024 * 1024;

let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
let program: Program;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  env = await sharedSettings(database.url, receiver.caPem);
  program = await startProgram(["up"], env);
});
after(async () => {
  await program.end("SIGTERM");
  await receiver.close();
  await database.drop();
});

/** An endpoint with so many deliveries of events of nearly 1 MiB each, as the log has them. */
async function endpointWithLog(rows: number, tenantId = "acme"): Promise<string> {
  const as = tenantId === "acme" ? OWNER : OTHER_OWNER;
  const { endpoint } = await createEndpoint(program, { url: receiver.url, events: ["invoice.paid"] }, { as });
  await database.pool.query(
    `WITH made AS (
        INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT $4, postern.uuid_v7(), 'invoice.paid', '{"text":"' || repeat(md5(n::text), $2::int / 32 - 1) || '"}', 1
        FROM generate_series(1, $3::int) AS n RETURNING id)
      INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, response_status, response_headers, response_body, latency_ms)
      SELECT $4, $1, postern.uuid_v7(), id, 'invoice.paid', 'event', 'delivered', 1, '{}', 200, '{}', 'ok', 1
      FROM made`,
    [endpoint.id, MIB, rows, tenantId],
  );
  return endpoint.id;
}

const pathOf = (id: string, limit = 100) => `/api/webhooks/${id}/deliveries?limit=${limit}`;

function serviceWith(httpLimits: { maxLogAnswers: number; logTurnTimeoutMs: number }) {
  return startTestService({ roles: ["api"], env, database, receiver, httpLimits });
}

/** Asks for an endpoint's log and reads what the socket's own buffers take, until told to go on. */
async function askSlowly(url: string, id: string, claims: Claims = OWNER): Promise<Socket> {
  const socket = open(url);
  const token = await issueTestToken(env, claims);
  const head = [
    `GET ${pathOf(id)} HTTP/1.1`,
    "Host: x",
    `Authorization: Bearer ${token}`,
    "Connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  return socket;
}

/** A slow request whose answer has begun, and the function that reads it to its end. */
async function begun(id: string) {
  const socket = await askSlowly(program.url, id);
  await once(socket, "readable");
  return async (): Promise<string> => {
    const chunks: Buffer[] = [];
    socket.on("data", (bytes: Buffer) => chunks.push(bytes));
    await once(socket, "close");
    return Buffer.concat(chunks).toString("utf8");
  };
}

/** The body of an answer in chunks. */
function unchunk(received: string): string {
  let rest = received.slice(received.indexOf("\r\n\r\n") + 4);
  let text = "";
  for (;;) {
    const end = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (size === 0) return text;
    text += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 2 + size + 2);
  }
}

async function delivery(id: string, deliveryId: string): Promise<unknown> {
  const answer = await program.call("GET", `/api/webhooks/${id}/deliveries/${deliveryId}`);
  return Object(answer.body).delivery;
}

describe("a page of 100 deliveries of 1 MiB each", () => {
  let id: string;
  let whole: ApiAnswer;
  let listed: Delivery[];

  before(async () => {
    const { endpoint } = await createEndpoint(program, { url: receiver.url, events: ["invoice.sent"] });
    id = endpoint.id;
    for (let n = 0; n < 100; n++) {
      // Of each kind that JSON, UTF-8 and UTF-16 write differently.
      const some = `${n} "\\ é € 😀 \u2028 \u0001 `;
      const text = some.repeat(
        Math.floor((MIB - 200) / Buffer.byteLength(JSON.stringify(some).slice(1, -1))),
      );
      const data = { n, text };
      await publish(program, "invoice.sent", { data });
    }
    await eventually(async () => {
      const { rows } = await database.pool.query(
        "SELECT count(*)::int AS count FROM postern.deliveries WHERE endpoint_id = $1",
        [id],
      );
      return rows[0]?.count === 100;
    });
    whole = await program.call("GET", pathOf(id));
    listed = Object(whole.body).deliveries;
  });

  it("is what the receiver got, byte for byte", async () => {
    assert.equal(listed.length, 100);
    const sent = new Map(
      receiver.requests.map(({ headers, body }) => [headers["x-service-delivery"], body.toString("utf8")]),
    );
    for (const row of listed) {
      assert.ok(row.request_body !== null && Buffer.byteLength(row.request_body) > 0.99 * MIB);
      assert.ok(row.request_body === sent.get(row.id), row.id);
    }
  });

  it("is the text that it would be if it were written at once, and so are recent_deliveries", async () => {
    const { headers, text } = whole;
    const rows = [];
    for (const row of listed) rows.push(await delivery(id, row.id));
    assert.ok(text === JSON.stringify({ deliveries: rows }));
    assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(headers.get("link"), null);
    const part = await program.call("GET", pathOf(id, 20));
    assert.match(part.headers.get("link") ?? "", new RegExp(`before=${listed[19]?.id}>; rel="next"$`));
    assert.match(headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);

    const { endpoint } = await getEndpoint(program, id);
    const detail = await program.call("GET", `/api/webhooks/${id}`);
    assert.ok(detail.text === JSON.stringify({ endpoint, recent_deliveries: rows.slice(0, 5) }));
  });

  it("is answered to HEAD by the same headers alone", async () => {
    const head = await program.call("HEAD", pathOf(id));
    assert.deepEqual([head.status, head.text], [200, ""]);
    assert.equal(head.headers.get("content-length"), null);
    assert.equal(head.headers.get("content-type"), whole.headers.get("content-type"));
    assert.equal(head.headers.get("link"), whole.headers.get("link"));
  });

  it("has rows of every kind: pending, with a body of their own, without one", async () => {
    const { endpoint } = await createEndpoint(program, { url: receiver.url, events: ["invoice.paid"] });
    await database.pool.query(
      `WITH event AS (
          INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
          VALUES ('acme', postern.uuid_v7(), 'invoice.paid', repeat('p', 600000), 1) RETURNING id),
        pending AS (
          INSERT INTO postern.dispatches
            (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
          SELECT 'acme', $1, postern.uuid_v7(), id, 'invoice.paid', 1, now(), now(), true FROM event)
        INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_body, request_headers, latency_ms)
        VALUES ('acme', $1, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid', 'retry', 'failed', 2,
            repeat('o', 1200000), '{}', 1),
          ('acme', $1, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid', 'retry', 'failed', 2, '', '{}', 1),
          ('acme', $1, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid', 'event', 'failed', 1, NULL, '{}', 1)`,
      [endpoint.id],
    );
    const rows = await listDeliveries(program, endpoint.id);
    for (const row of rows) assert.deepEqual(row, await delivery(endpoint.id, row.id));
    const sizes = rows.map((row) => row.request_body?.length ?? null);
    assert.deepEqual(new Set(sizes), new Set([600_000, 1_200_000, 0, null]));
  });
});

describe("a page that is read slowly", () => {
  it("shows null for a body that is gone when its turn comes", async () => {
    const id = await endpointWithLog(40);
    const readOn = await begun(id);
    const { rows } = await database.pool.query(
      `DELETE FROM postern.events WHERE id = (
        SELECT event_id FROM postern.deliveries WHERE endpoint_id = $1 ORDER BY id LIMIT 1) RETURNING id`,
      [id],
    );
    const { deliveries } = JSON.parse(unchunk(await readOn()));
    const lengths = deliveries.map((row: { request_body: string | null }) => row.request_body?.length);
    assert.equal(deliveries.at(-1).event_id, rows[0]?.id);
    assert.equal(deliveries.at(-1).request_body, null);
    assert.deepEqual(new Set(lengths.slice(0, -1)), new Set([lengths[0]]));
    assert.ok(lengths[0] > 0.99 * MIB);
  });

  it("breaks off, and is logged, when a body cannot be read", async (test) => {
    const id = await endpointWithLog(40);
    const readOn = await begun(id);
    await database.pool.query("REVOKE SELECT ON postern.events FROM postern_tenant");
    test.after(() => database.pool.query("GRANT SELECT ON postern.events TO postern_tenant"));
    const received = await readOn();
    assert.match(received, /^HTTP\/1\.1 200 OK\r\n/);
    assert.ok(!received.endsWith("0\r\n\r\n"), "the last chunk did not come");
    assert.ok(!received.includes("]}\r\n"), "nor did the end of the list");
    const requestId = /^x-request-id: (.*)$/im.exec(received)?.[1] ?? "none";
    // What a process prints comes through a pipe, at its own time.
    const line = await eventually(async () =>
      program
        .output()
        .split("\n")
        .find((text) => text.includes("an answer broke off") && text.includes(requestId)),
    );
    assert.ok(line.includes("permission denied"), line);
  });
});

describe("40 pages of 100 MiB that are read slowly at the same time", () => {
  it("leave the process small and others served", { timeout: 100_000 }, async (test) => {
    const id = await endpointWithLog(100);
    const otherId = await endpointWithLog(5, "globex");
    const reader = await startProgram(["api"], env);
    test.after(() => reader.end("SIGTERM"));
    const residentMib = async (): Promise<number> => {
      const { text } = await reader.call("GET", "/metrics", { as: null });
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / MIB;
    };
    const atFirst = await residentMib();
    const sockets = await Promise.all(Array.from({ length: 40 }, () => askSlowly(reader.url, id)));
    for (const socket of sockets) {
      socket.on("data", () => {
        socket.pause();
        setTimeout(() => socket.resume(), 10);
      });
    }
    const bytesRead = () => sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
    let peak = 0;
    while (bytesRead() < 300 * MIB) {
      assert.equal((await listDeliveries(reader, otherId, "", { as: OTHER_OWNER })).length, 5);
      peak = Math.max(peak, await residentMib());
    }
    for (const socket of sockets) socket.destroy();
    test.diagnostic(`${atFirst.toFixed(0)} MiB at first, ${peak.toFixed(0)} at the peak`);
    assert.ok(peak - atFirst < 300, `${atFirst} MiB at first, ${peak} at the peak`);
    assert.equal((await listDeliveries(reader, id, "?limit=100")).length, 100);
  });
});

describe("more slow readers of a tenant's log than are answered at once", () => {
  it("are refused when their turn does not come, and other tenants are served", async (test) => {
    const id = await endpointWithLog(40);
    const service = await serviceWith({ maxLogAnswers: 2, logTurnTimeoutMs: 200 });
    test.after(() => service.stop());
    const slow = [await askSlowly(service.url, id), await askSlowly(service.url, id)];
    await Promise.all(slow.map((socket) => once(socket, "readable")));
    const paths = [pathOf(id), `/api/webhooks/${id}`, `/api/webhooks/${id}/deliveries/${id}`];
    for (const path of paths) {
      const refused = await service.call("GET", path);
      assert.deepEqual([refused.status, refused.body], [429, { error: "Too many requests" }]);
      assert.equal(refused.headers.get("retry-after"), "1");
    }
    assert.equal((await service.call("GET", pathOf(id), { as: OTHER_OWNER })).status, 200);
    assert.equal((await service.call("GET", "/api/webhooks")).status, 200);
    for (const socket of slow) socket.destroy();
    await eventually(async () => (await service.call("GET", pathOf(id))).status === 200);
  });

  it("are answered when one before them has ended, and not kept a place for when they hang up", async (test) => {
    const id = await endpointWithLog(40);
    const service = await serviceWith({ maxLogAnswers: 1, logTurnTimeoutMs: 15_000 });
    test.after(() => service.stop());
    const slow = await askSlowly(service.url, id);
    await once(slow, "readable");
    const impatient = await askSlowly(service.url, id);
    let isAnswered = false;
    const waiting = service.call("GET", pathOf(id)).finally(() => (isAnswered = true));
    assert.equal((await service.call("GET", "/api/webhooks")).status, 200);
    impatient.destroy();
    assert.equal((await service.call("GET", "/api/webhooks")).status, 200);
    assert.ok(!isAnswered);
    slow.destroy();
    assert.equal((await waiting).status, 200);
  });
});
