/** Clients that go away in the middle of a request: no fault of Postern's and no outage. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import type { Environment } from "../src/config.ts";
import { issueTestToken, OWNER, PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { open } from "./support/raw-http.ts";

const BODY = '{"url":"https://hooks.example.com/in"}';
const CLIENTS = 5;
const created = z.object({ endpoint: z.object({ id: z.string() }) });
const leases = z.object({ events: z.array(z.unknown()) });
const endpoints = z.object({ endpoints: z.array(z.unknown()) });

describe("a client that goes away", () => {
  let database: TestDatabase;
  let program: Program;
  let env: Environment;
  let head: string;
  let stream: string;
  let told: string;
  before(async () => {
    database = await createTestDatabase();
    env = await sharedSettings(database.url, "");
    program = await startProgram(["api"], env);
    told = program.output();
    const lines = ["Host: x", `Authorization: Bearer ${await issueTestToken(env, OWNER)}`];
    stream = `GET /api/deliveries/stream HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
    head = `POST /api/webhooks HTTP/1.1\r\n${lines.join("\r\n")}\r\nContent-Length: ${BODY.length}\r\n\r\n`;
  });
  after(async () => {
    await program.end("SIGTERM");
    await database.drop();
  });

  /** Clients that have sent these bytes. */
  async function send(text: string): Promise<Socket[]> {
    const sockets = Array.from({ length: CLIENTS }, () => open(program.url));
    await Promise.all(
      sockets.map(async (socket) => {
        await once(socket, "connect");
        await new Promise((resolve) => socket.write(text, resolve));
      }),
    );
    return sockets;
  }
  /** Answered behind what has reached the program before. */
  async function countEndpoints(): Promise<number> {
    const { status, body } = await program.call("GET", "/api/webhooks");
    assert.equal(status, 200);
    return endpoints.parse(body).endpoints.length;
  }
  async function watching(): Promise<number> {
    const { text } = await program.call("GET", "/metrics", { as: null });
    return Number(/^webhook_log_watchers (\d+)$/m.exec(text)?.[1]);
  }
  /** Since the start. */
  const troubles = () =>
    program
      .output()
      .slice(told.length)
      .match(/.*"level":"(?:warn|error|fatal)".*/g) ?? [];

  it("before its body has come is logged as no outage", async () => {
    const sockets = await send(head + BODY.slice(0, 10));
    assert.equal(await countEndpoints(), 0);
    for (const socket of sockets) socket.resetAndDestroy();
    assert.equal(await countEndpoints(), 0);
    assert.deepEqual(troubles(), []);
  });

  it("amid an answer that is a stream is logged as no fault", async () => {
    const sockets = await send(stream);
    await eventually(async () => (await watching()) === CLIENTS);
    await Promise.all(sockets.map((socket) => once(socket, "data")));
    for (const socket of sockets) socket.resetAndDestroy();
    await eventually(async () => (await watching()) === 0);
    assert.deepEqual(troubles(), []);
  });

  it("before its connection was accepted has its whole request carried out", async () => {
    // The kernel takes connections and their bytes meanwhile, and then knows no address of theirs.
    program.signal("SIGSTOP");
    const sockets = await send(head + BODY);
    for (const socket of sockets) socket.resetAndDestroy();
    program.signal("SIGCONT");
    await eventually(async () => (await countEndpoints()) === CLIENTS);
    assert.deepEqual(troubles(), []);
  });

  it("before its fetch began is leased nothing, and does not wait", async () => {
    const json = { url: "https://hooks.example.com/pull", mode: "pull" };
    const { endpoint } = created.parse((await program.call("POST", "/api/webhooks", { json })).body);
    const lease = `/api/webhooks/${endpoint.id}/leases`;
    const body = '{"wait_s":30}';
    // A token that is not known yet, so that the connection ends while it is verified.
    const token = await issueTestToken(env, { ...OWNER, sub: "eve" });
    const fields = ["Host: x", `Authorization: Bearer ${token}`, "Content-Type: application/json"];
    const length = `Content-Length: ${body.length}`;
    program.signal("SIGSTOP");
    const sockets = await send([`POST ${lease} HTTP/1.1`, ...fields, length, "", body].join("\r\n"));
    for (const socket of sockets) socket.resetAndDestroy();
    program.signal("SIGCONT");
    // Answered behind them.
    await countEndpoints();
    const event = { type: "invoice.paid", data: {} };
    assert.equal((await program.call("POST", "/api/events", { as: PRODUCER, json: event })).status, 202);
    const leased = await program.call("POST", lease, { json: { wait_s: 5 } });
    assert.equal(leases.parse(leased.body).events.length, 1);
  });
});
