/** What tests of the intake do again and again. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import * as z from "zod";
import { STREAM } from "../../src/intake/stream.ts";
import type { NatsCluster } from "./nats-cluster.ts";
import type { TestDatabase } from "./postgres.ts";
import { PRODUCER, type ApiAnswer, type CallOptions } from "./calls.ts";
import { eventually } from "./eventually.ts";
import type { TestService } from "./service.ts";

type Caller = Pick<TestService, "call">;

const published = z.object({ id: z.string(), deliveries: z.null() });

export function send(service: Caller, json: unknown, options: CallOptions = {}): Promise<ApiAnswer> {
  return service.call("POST", "/api/events", { as: PRODUCER, json, ...options });
}

/** Publishes over HTTP an event that the stream must take, and answers its id. */
export async function take(service: Caller, event: object = {}): Promise<string> {
  const answer = await send(service, { type: "invoice.paid", data: {}, ...event });
  assert.equal(answer.status, 202, answer.text);
  return published.parse(answer.body).id;
}

/** Stores a message as a producer would that has no need of HTTP; returns its sequence. */
export function store(cluster: NatsCluster, subject: string, body: unknown): Promise<number> {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  return cluster.withClient(async (client) => {
    const { seq } = await client.publish(subject, bytes, { expect: { streamName: STREAM } });
    return seq;
  });
}

/** Stores a message whose headers are these bytes, which no client would send. */
export async function storeRaw(cluster: NatsCluster, subject: string, headers: string, body: unknown) {
  const text = JSON.stringify(body);
  const [host = "", port] = cluster.url.slice("nats://".length).split(",")[0]?.split(":") ?? [];
  const socket = connect({ host, port: Number(port) });
  const sizes = `${Buffer.byteLength(headers)} ${Buffer.byteLength(headers) + Buffer.byteLength(text)}`;
  socket.write('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n');
  socket.write(`HPUB ${subject} ${sizes}\r\n${headers}${text}\r\nPING\r\n`);
  let answer = "";
  for await (const chunk of socket) {
    answer += String(chunk);
    assert.doesNotMatch(answer, /-ERR/);
    if (answer.includes("PONG")) break;
  }
}

export async function untilEmpty(cluster: NatsCluster): Promise<void> {
  await eventually(async () => (await cluster.messages()) === 0);
}

/** A metric's value, by its name with its labels; 0 where it has none yet. */
export async function metric(service: Caller, name: string): Promise<number> {
  const { text } = await service.call("GET", "/metrics", { as: null });
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

/** Ids of stored events, each with the dispatches that were ever made of it. */
export async function dispatchesMade(database: TestDatabase): Promise<Map<string, number>> {
  const { rows } = await database.pool.query<{ id: string; made: number }>(
    `SELECT e.id, (SELECT count(*)::int FROM postern.deliveries d WHERE d.event_id = e.id AND d.attempt = 1)
        + (SELECT count(*)::int FROM postern.dispatches p WHERE p.event_id = e.id AND p.attempt = 1) AS made
      FROM postern.events e`,
  );
  return new Map(rows.map(({ id, made }) => [id, made]));
}
