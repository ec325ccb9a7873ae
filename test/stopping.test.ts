/** What a caller sees of a process that stops. */
import assert from "node:assert/strict";
import { text as textOf } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { OWNER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { open } from "./support/raw-http.ts";
import { startTestService, type TestService } from "./support/service.ts";
import type { Answer } from "./support/tls-receiver.ts";
import { publish, webhooksOf } from "./support/webhooks.ts";

const MIB = 1024 * 1024;

let service: TestService;
let stopped: Promise<void> | undefined;
const held = Promise.withResolvers<Answer>();
before(async () => {
  service = await startTestService({ respond: () => held.promise });
});
after(() => stopped ?? service.stop());

describe("a request that comes while the process stops", () => {
  it("on a connection with one in flight is refused as any other, to be sent again elsewhere", async () => {
    const { endpoint } = await webhooksOf(service).create();
    const socket = open(service.url);
    let received = "";
    socket.setEncoding("utf8").on("data", (text: string) => (received += text));
    const token = await service.token(OWNER);
    const head = `Host: postern\r\nAuthorization: Bearer ${token}\r\n`;
    const data = '{"event_type":"invoice.paid"}';
    const path = `${new URL(service.url).pathname.replace(/\/$/, "")}/api/webhooks/${endpoint.id}`;
    socket.write(`POST ${path}/test HTTP/1.1\r\n${head}Content-Length: ${data.length}\r\n\r\n${data}`);
    await eventually(async () => service.receiver.requests.length === 1);
    stopped = service.stop();
    await eventually(() =>
      fetch(`${service.url}/health`).then(
        () => false,
        () => true,
      ),
    );
    socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`, () => held.resolve({}));
    await stopped;
    await eventually(async () => socket.closed);
    const [, first = "", second = ""] = received.split("HTTP/1.1 ");
    assert.match(first, /^200 OK\r\n/);
    assert.match(second, /^503 Service Unavailable\r\n/);
    for (const header of [/^x-request-id: .+$/im, /^retry-after: 1\r$/im, /^connection: close\r$/im])
      assert.match(second, header);
    assert.ok(second.endsWith('\r\n\r\n{"error":"Service unavailable"}'), second);
  });
});

describe("a connection whose last request ends while the process stops", () => {
  it("is closed then, and not held open for a next one until all others are cut off", async () => {
    const stopping = await startTestService({ roles: ["api"] });
    const { pool } = stopping.database;
    const [first, second] = [await pool.connect(), await pool.connect()];
    const token = await stopping.token(OWNER);
    const waitsFor = (table: string) =>
      eventually(async () => {
        const { rows } = await pool.query(
          `SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
          [table],
        );
        return rows.length > 0;
      });
    const ask = (path: string) => {
      const socket = open(stopping.url);
      let text = "";
      socket.setEncoding("utf8").on("data", (part: string) => (text += part));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: postern\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      return { socket, text: () => text };
    };
    await first.query("BEGIN; LOCK TABLE postern.endpoints");
    await second.query("BEGIN; LOCK TABLE postern.audit_log");
    const [one, other] = [ask("/api/webhooks"), ask("/api/audit")];
    await waitsFor("postern.endpoints");
    await waitsFor("postern.audit_log");
    const ended = stopping.stop();
    await eventually(async () => !(await fetch(`${stopping.url}/health`).catch(() => null))?.ok);
    await first.query("ROLLBACK");
    first.release();
    await eventually(async () => one.socket.closed);
    await second.query("ROLLBACK");
    second.release();
    await ended;
    await eventually(async () => other.socket.closed);
    for (const { text } of [one, other]) assert.match(text(), /^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe("an answer that its client reads slowly", () => {
  it("is whole, also where it was made before the process stops", async () => {
    const stopping = await startTestService({ roles: ["api"] });
    const { endpoint } = await webhooksOf(stopping).create({ mode: "pull" });
    // More than the system takes for a client that does not read.
    const filling = "x".repeat(MIB - 1024);
    for (let n = 0; n < 8; n++) await publish(stopping, { type: "invoice.paid", data: { filling } });
    const socket = open(stopping.url);
    const path = `${new URL(stopping.url).pathname.replace(/\/$/, "")}/api/webhooks/${endpoint.id}/leases`;
    const token = await stopping.token(OWNER);
    const input = '{"limit":8}';
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: postern\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${input.length}\r\n\r\n${input}`,
    );
    await eventually(async () => socket.bytesRead > 0);
    const ended = stopping.stop();
    await eventually(() =>
      fetch(`${stopping.url}/health`).then(
        () => false,
        () => true,
      ),
    );
    const [head = "", body = ""] = (await textOf(socket)).split("\r\n\r\n");
    assert.equal(Number(/^content-length: (.*)$/im.exec(head)?.[1]), body.length);
    assert.ok(body.length > 8 * filling.length, `${body.length}`);
    await ended;
  });
});

describe("a stream of the log that begins while the process stops", () => {
  it("ends as those do that had begun", async () => {
    const stopping = await startTestService({ roles: ["api"] });
    const { pool } = stopping.database;
    const locking = await pool.connect();
    await locking.query("BEGIN; LOCK TABLE postern.log_watches");
    const streamed = stopping
      .call("GET", "/api/deliveries/stream", { as: OWNER })
      .then(({ status, text }) => ({ status, text }));
    await eventually(async () => {
      const { rows } = await pool.query(
        "SELECT FROM pg_locks WHERE NOT granted AND relation = 'postern.log_watches'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );
      return rows.length > 0;
    });
    const ended = stopping.stop();
    await eventually(async () => !(await fetch(`${stopping.url}/health`)).ok);
    await locking.query("ROLLBACK");
    locking.release();
    // Whole: it is not cut off when the time for requests is over.
    assert.deepEqual(await streamed, { status: 200, text: ": watching\n\n" });
    await ended;
  });
});

describe("a worker that stops", () => {
  it("counts as alive until its last attempt is over, so that nobody makes that again", async () => {
    const answer = Promise.withResolvers<Answer>();
    const stopping = await startTestService({ respond: () => answer.promise });
    await webhooksOf(stopping).create();
    await publish(stopping, { type: "invoice.paid" });
    await eventually(async () => stopping.receiver.requests.length === 1);
    const { pool } = stopping.database;
    const look = async () => {
      const { rows } = await pool.query<{ alive: boolean; ownsSlots: boolean }>(
        `SELECT EXISTS (SELECT FROM postern.workers) AS alive,
          EXISTS (SELECT FROM postern.slots WHERE owner IS NOT NULL) AS "ownsSlots"`,
      );
      return rows[0] ?? assert.fail();
    };
    assert.deepEqual(await look(), { alive: true, ownsSlots: true });
    const ended = stopping.stop();
    // Others go on with its endpoints by then.
    const found = await eventually(async () => {
      const { alive, ownsSlots } = await look();
      return (!alive || !ownsSlots) && { alive, ownsSlots };
    });
    assert.deepEqual(found, { alive: true, ownsSlots: false });
    answer.resolve({});
    await ended;
  });
});
