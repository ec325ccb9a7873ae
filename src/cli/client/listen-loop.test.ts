import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { after, afterEach, before, beforeEach, describe, it, mock } from "node:test";
import promises from "node:timers/promises";
import { newDeliveryId, newEndpointId, newEventId } from "../../shared/id.ts";
import { ApiRefusalError, type ApiClient } from "./api-client.ts";
import { NoAnswerError, StrangeAnswerError } from "../command-errors.ts";
import { listenTo } from "./listen-loop.ts";

const AT = "2026-01-31T12:00:00.000Z";
const ENDPOINT = {
  id: newEndpointId(),
  url: "https://example.com/listen",
  events: ["*"],
  description: null,
  enabled: true,
  disabled_reason: null,
  mode: "pull",
  temporary: true,
  rate_limit: null,
  headers: {},
  masked_headers: [],
  metadata: {},
  created_at: AT,
  updated_at: AT,
};
const EVENT = {
  id: newDeliveryId(),
  event_id: newEventId(),
  event_type: "invoice.paid",
  event_version: 1,
  trigger: "event",
  replay_id: null,
  attempt: 1,
  headers: {},
  body: "{}",
};
const LEASE = { lease_id: "0190a5b1-7c00-4000-8000-0000000000aa", lease_until: AT, events: [EVENT] };
const NONE = { lease_id: null, lease_until: null, events: [] };
const past = () => ({ id: newEventId(), type: "invoice.paid", deliveries: 1, created_at: AT });

let receiver: Server;
/** What it answers. */
let answering = { status: 204, body: "" };
/** What was said to people, and printed for programs. */
let told: string[] = [];
let printed: string[] = [];
/** What Postern was told became of events. */
let acknowledged: unknown[] = [];
before(async () => {
  mock.method(console, "log", (line: string) => void printed.push(line));
  mock.method(process.stderr, "write", (text: string) => told.push(text) > 0);
  receiver = createServer((_request, response) => {
    response.writeHead(answering.status).end(answering.body);
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
});
after(() => receiver.close());
// Each listening waits for signals as long as the process lives.
afterEach(() => process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM"));
beforeEach(() => {
  answering = { status: 204, body: "" };
  acknowledged = [];
});

const refusal = (status: number) => new ApiRefusalError('{"error":"no"}', status);

type Given = {
  replayed?: number;
  patterns?: string[];
  /** What the last call fails with. */
  deletion?: Error | null;
  secret?: string | null;
  isJson?: boolean;
  /** Where to forward to. */
  to?: Server;
};

/** Listens where these calls in turn answer so, or fail; Ctrl-C at the last. Answers the calls that were made. */
async function listen(
  answers: readonly unknown[],
  {
    replayed = 0,
    patterns = ["*"],
    deletion = null,
    secret = "whsec_",
    isJson = true,
    to = receiver,
  }: Given = {},
): Promise<string[]> {
  const made: string[] = [];
  [told, printed] = [[], []];
  const left = [...answers];
  const api: ApiClient = {
    async page(path) {
      made.push(`${path.split("/").at(-1)}`);
      const { before, ...answer } = { before: null, ...Object(left.shift()) };
      if (left.length === 0) process.emit("SIGINT");
      return { text: JSON.stringify(answer), before };
    },
    async call(method, path, json = "null") {
      const last = path.split("/").at(-1);
      made.push(last === ENDPOINT.id ? method : last === "send" ? path : `${last}`);
      if (last === "acks") acknowledged.push(JSON.parse(json));
      if (last === "webhooks") return JSON.stringify({ endpoint: ENDPOINT, secret: "whsec_" });
      if (method === "DELETE") {
        if (deletion !== null) throw deletion;
        return "";
      }
      const answer = left.shift();
      const isLast = left.length === 0;
      if (answer instanceof Error) {
        // Once it was judged, for what fails after a Ctrl-C is no matter.
        if (isLast) setImmediate(() => process.emit("SIGINT"));
        throw answer;
      }
      if (isLast) process.emit("SIGINT");
      return JSON.stringify(answer);
    },
  };
  const address = to.address();
  assert.ok(typeof address === "object" && address !== null);
  const forward = new URL(`http://127.0.0.1:${address.port}/`);
  await listenTo(api, { forward, patterns, secret: secret ?? undefined, replayed, isJson }).catch(
    (error: unknown) => made.push(String(Object(error).status ?? error)),
  );
  return made;
}

describe("listening", () => {
  it("goes on where Postern is away, is busy or has had enough of calls", async () => {
    const ofProxy = new StrangeAnswerError("answered 502", 502);
    for (const passing of [refusal(429), refusal(500), refusal(503), new NoAnswerError("away"), ofProxy]) {
      assert.deepEqual(await listen([passing]), ["webhooks", "leases", "DELETE"]);
      assert.deepEqual(await listen([LEASE, passing]), ["webhooks", "leases", "acks", "DELETE"]);
    }
  });

  it("goes on where the lease had ended before it was acknowledged", async () => {
    const made = await listen([LEASE, refusal(409), LEASE, {}, NONE]);
    assert.deepEqual(made, ["webhooks", "leases", "acks", "leases", "acks", "leases", "DELETE"]);
  });

  it("ends where Postern says no, and deletes its endpoint", async () => {
    for (const status of [403, 404, 409]) {
      const refused = [refusal(status), LEASE];
      assert.deepEqual(await listen(refused), ["webhooks", "leases", "DELETE", String(status)]);
    }
    const made = await listen([LEASE, refusal(404), LEASE]);
    assert.deepEqual(made, ["webhooks", "leases", "acks", "DELETE", "404"]);
  });

  it("begins with the newest past events of all patterns together, the oldest of them first", async () => {
    const [oldest, second, third, newest] = Array.from({ length: 4 }, past);
    const answers = [
      { searched_to: null, events: [third, oldest] },
      { searched_to: null, events: [newest, second] },
      {},
      {},
      NONE,
    ];
    const looks = ["events?type=invoice.*&limit=2", "events?type=order.placed&limit=2"];
    const sent = [third, newest].map((event) => `/api/events/${event?.id}/send`);
    assert.deepEqual(await listen(answers, { replayed: 2, patterns: ["invoice.*", "order.placed"] }), [
      "webhooks",
      ...looks,
      ...sent,
      "leases",
      "DELETE",
    ]);
  });

  it("looks on for past events behind a short page of a search, until it has so many or none is left", async () => {
    const [middle, newest] = Array.from({ length: 2 }, past);
    const sends = [middle, newest].map((event) => `/api/events/${event?.id}/send`);
    const looks = ["&limit=2", "&limit=1&before=b1", "&limit=1&before=b2"].map(
      (bounds) => `events?type=rare.paid${bounds}`,
    );
    const short = [
      { searched_to: AT, events: [newest], before: "b1" },
      { searched_to: AT, events: [], before: "b2" },
    ];
    const given = { replayed: 2, patterns: ["rare.paid"] };
    const found = { searched_to: AT, events: [middle], before: "b3" };
    assert.deepEqual(await listen([...short, found, {}, {}, NONE], given), [
      "webhooks",
      ...looks,
      ...sends,
      "leases",
      "DELETE",
    ]);
    const last = { searched_to: null, events: [] };
    assert.deepEqual(await listen([...short, last, {}, NONE], given), [
      "webhooks",
      ...looks,
      ...sends.slice(1),
      "leases",
      "DELETE",
    ]);
  });

  it("sends no past event after a Ctrl-C while it looks for them", async () => {
    const short = { searched_to: AT, events: [past()], before: "b1" };
    const given = { replayed: 2, patterns: ["rare.paid"] };
    assert.deepEqual(await listen([short], given), ["webhooks", "events?type=rare.paid&limit=2", "DELETE"]);
  });

  it("begins with the last event alone where one is asked for, and with none where none is", async () => {
    const last = past();
    const answers = [{ searched_to: null, events: [last] }, {}, NONE];
    const send = `/api/events/${last.id}/send`;
    assert.deepEqual(await listen(answers, { replayed: 1 }), [
      "webhooks",
      "events?limit=1",
      send,
      "leases",
      "DELETE",
    ]);
    assert.deepEqual(await listen([NONE]), ["webhooks", "leases", "DELETE"]);
  });

  it("tells Postern and programs what became of each event", async () => {
    const shown = { type: "invoice.paid", id: EVENT.id, event_id: EVENT.event_id, attempt: 1 };
    await listen([LEASE, {}, NONE]);
    answering = { status: 500, body: `\0no ${"x".repeat(300)}` };
    await listen([LEASE, {}, NONE]);
    assert.deepEqual(acknowledged, [
      { lease_id: LEASE.lease_id, acks: [{ id: EVENT.id }] },
      // PostgreSQL stores no NUL.
      { lease_id: LEASE.lease_id, acks: [{ id: EVENT.id, error: `500 no ${"x".repeat(193)}` }] },
    ]);
    assert.equal(printed.length, 1);
    const { at, ms, ...rest } = JSON.parse(printed[0] ?? "");
    assert.deepEqual(rest, { ...shown, status: 500, error: null });
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000 && Number.isInteger(ms));
  });

  it("ends at once at a second signal, but not at one that comes right behind the first", async () => {
    let now = 5000;
    const exits: unknown[] = [];
    const clock = mock.method(performance, "now", () => now);
    const exit = mock.method(process, "exit", (code: number) => void exits.push(code));
    await listen([NONE]);
    now += 1000;
    process.emit("SIGINT");
    assert.deepEqual(exits, []);
    now += 1001;
    process.emit("SIGTERM");
    assert.deepEqual(exits, [1]);
    for (const one of [clock, exit]) one.mock.restore();
  });

  it("says what to do where a receiver breaks off", async () => {
    const left = createServer((_request, response) => response.destroy()).listen(0, "127.0.0.1");
    await once(left, "listening");
    await listen([LEASE, {}, NONE], { isJson: false, to: left });
    left.close();
    assert.match(
      told.join(""),
      /^ {2}http:\/\/127\.0\.0\.1:\d+ broke the connection off: see your receiver's log$/m,
    );
    assert.match(
      printed[0] ?? "",
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  invoice\\.paid  ${EVENT.event_id}  ECONNRESET  \\d+ ms$`),
    );
  });

  it("says that its endpoint could not be deleted, but not where it was gone already", async () => {
    const left = "the temporary endpoint could not be deleted; Postern does it within an hour\n";
    for (const [deletion, isTold] of [
      [null, false],
      [refusal(404), false],
      [refusal(403), true],
      [refusal(500), true],
      [new NoAnswerError("away"), true],
    ] as const) {
      assert.deepEqual(await listen([NONE], { deletion }), ["webhooks", "leases", "DELETE"]);
      assert.equal(told.includes(left), isTold, String(deletion));
    }
  });

  it("says once that Postern is away, once that it answers again, and what it forwards where", async () => {
    const { mock: waiting } = mock.method(promises, "setTimeout", async () => undefined);
    syncBuiltinESMExports();
    await listen([new NoAnswerError("no answer\nmore"), new NoAnswerError("no answer"), NONE, NONE], {
      patterns: ["invoice.*", "order.placed"],
    });
    waiting.restore();
    syncBuiltinESMExports();
    assert.deepEqual(
      waiting.calls.map(({ arguments: [ms] }: { arguments: unknown[] }) => ms),
      [1000, 1000],
    );
    const [start = "", ...more] = told;
    assert.match(
      start,
      /^forwarding invoice\.\*, order\.placed to http:\/\/127\.0\.0\.1:\d+\/; Ctrl-C ends\n$/,
    );
    assert.deepEqual(more, ["no answer; trying again each second\n", "Postern answers again\n"]);
    await listen([NONE], { secret: null });
    assert.deepEqual(told.slice(1), ["signing secret: whsec_\n"]);
  });
});
