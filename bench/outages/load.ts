/** A steady load of events for tenants of several shards, each of which is published until it is accepted. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../test/support/eventually.ts";
import { openConnection, type Connection, type Target } from "../generator.ts";

const SENDERS = 2;
const PAUSE_MS = 25;
/** Each so many-th request publishes an event for every tenant at once. */
const ARRAY_EVERY = 10;

export class Load {
  readonly #tenants: readonly string[];
  readonly #token: string;
  /** Of the processes that take events now. */
  readonly #urls: () => readonly string[];
  readonly #accepted: string[] = [];
  #next = 0;
  #refused = 0;
  #isOver = false;
  readonly #sending: Promise<void>[];

  constructor(tenants: readonly string[], token: string, urls: () => readonly string[]) {
    this.#tenants = tenants;
    this.#token = token;
    this.#urls = urls;
    this.#sending = Array.from({ length: SENDERS }, () => this.#send());
  }

  /** The keys of the events that were answered 202. */
  get accepted(): readonly string[] {
    return this.#accepted;
  }

  /** Requests that were answered 503 or not at all; each was sent again. */
  get refused(): number {
    return this.#refused;
  }

  async acceptMore(count: number): Promise<void> {
    const wanted = this.#accepted.length + count;
    await eventually(async () => this.#accepted.length >= wanted);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#sending);
  }

  async #send(): Promise<void> {
    let connection: Connection | null = null;
    while (!this.#isOver) {
      const events = this.#nextEvents();
      const body = JSON.stringify(events);
      for (let tries = 0; ; tries++) {
        connection ??= await openConnection(this.#target(tries)).catch(() => null);
        const answer = await connection?.post(body).catch(() => null);
        if (answer?.status === 202 || answer?.status === 200) break;
        // Before it answers again, a service in trouble may only say that it is.
        assert.ok(answer === undefined || answer === null || answer.status === 503, answer?.body);
        this.#refused++;
        connection?.close();
        connection = null;
        await delay(PAUSE_MS);
      }
      this.#accepted.push(...events.map(({ id }) => id));
      await delay(PAUSE_MS);
    }
    connection?.close();
  }

  #nextEvents() {
    const n = this.#next++;
    const { length } = this.#tenants;
    const tenants = n % ARRAY_EVERY === 0 ? this.#tenants : [this.#tenants[n % length] ?? ""];
    return tenants.map((tenant_id) => {
      const key = `${tenant_id}.${n}`;
      return { id: key, tenant_id, type: "invoice.paid", data: { key } };
    });
  }

  #target(tries: number): Target {
    const urls = this.#urls();
    const { hostname, port } = new URL(urls[tries % urls.length] ?? "");
    return { host: hostname, port: Number(port), path: "/api/events", token: this.#token };
  }
}
