/** A database that lets the running processes in no more: their user's password is being changed, or its certificate has run out. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { createEndpoint, publish } from "./support/api.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const USER = `login_${randomUUID().replaceAll("-", "")}`;
let answering = Promise.withResolvers<void>();

let database: TestDatabase;
let receiver: TlsReceiver;
let program: Program;

before(async () => {
  database = await createTestDatabase({ migrated: false });
  const url = new URL(database.url);
  await query(`CREATE ROLE ${USER} LOGIN CREATEROLE PASSWORD 'first'`);
  await query(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${USER}`);
  const roles = ["owner", "tenant", "publisher", "worker", "producer"].map((name) => `postern_${name}`);
  const { rows } = await database.pool.query<{ name: string }>(
    "SELECT rolname AS name FROM pg_roles WHERE rolname = ANY ($1)",
    [roles],
  );
  // Else the program makes them.
  for (const { name } of rows) await query(`GRANT ${name} TO ${USER}`);
  [url.username, url.password] = [USER, "first"];
  receiver = await startReceiver({
    async respond() {
      await answering.promise;
      return {};
    },
  });
  program = await startProgram(["up"], await sharedSettings(url.href, receiver.caPem));
});
after(async () => {
  answering.resolve();
  await program.end("SIGKILL");
  await receiver.close();
  await query(`REASSIGN OWNED BY ${USER} TO CURRENT_USER`);
  await query(`DROP OWNED BY ${USER}`);
  await query(`DROP ROLE ${USER}`);
  await database.drop();
});

async function query(sql: string): Promise<Record<string, unknown>[]> {
  return (await database.pool.query(sql)).rows;
}

/** Warnings that came again within ten seconds, each with how many milliseconds behind the one before. */
function warningsTooOften(): string[] {
  const last = new Map<string, number>();
  const found: string[] = [];
  for (const line of program.output().split("\n")) {
    // Of each connection there is one.
    if (!line.includes('"level":"warn"') || line.includes("connection was lost while idle")) continue;
    const {
      time,
      msg,
      work = "",
    } = z.object({ time: z.string(), msg: z.string(), work: z.string().optional() }).parse(JSON.parse(line));
    const name = `${msg} ${work}`;
    const passedMs = Date.parse(time) - (last.get(name) ?? -Infinity);
    // Two clocks that round.
    if (passedMs < 9990) found.push(`${name}: ${passedMs}`);
    last.set(name, Date.parse(time));
  }
  return found;
}

const countOf = (message: string) => program.output().split(`"msg":"${message}"`).length - 1;
const name = () => new URL(database.url).pathname.slice(1);
const endSessions = () =>
  query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${USER}'`);

/** Each way in which an administrator shuts the user out, and lets it in again. */
const REFUSALS = [
  {
    of: "because of its password",
    shut: () => query(`ALTER ROLE ${USER} PASSWORD 'second'`),
    open: () => query(`ALTER ROLE ${USER} PASSWORD 'first'`),
  },
  {
    of: "because it may not connect to the database any more",
    shut: () => query(`REVOKE CONNECT ON DATABASE ${name()} FROM PUBLIC, ${USER}`),
    open: () => query(`GRANT CONNECT ON DATABASE ${name()} TO PUBLIC, ${USER}`),
  },
];

describe("a login that the database refuses while the program runs", () => {
  for (const { of, shut, open } of REFUSALS)
    it(`${of} is an outage: callers get 503, /ready says so, and an attempt in flight is recorded when it is let in again`, async () => {
      answering = Promise.withResolvers();
      const sentBefore = receiver.requests.length;
      const recorded = () => query("SELECT FROM postern.deliveries WHERE status = 'delivered'");
      const recordedBefore = (await recorded()).length;
      if (sentBefore === 0) await createEndpoint(program, { url: receiver.url });
      await publish(program);
      await eventually(async () => receiver.requests.length === sentBefore + 1);
      const waitsBefore = countOf("outcomes could not be recorded yet");
      await shut();
      await endSessions();
      answering.resolve();

      const json = { type: "invoice.paid", data: {}, tenant_id: "acme" };
      const refused = await program.call("POST", "/api/events", { as: PRODUCER, json });
      assert.equal(refused.status, 503, refused.text);
      assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]/);
      // Its last look may be of a moment before, or of a connection that was just ended.
      await eventually(async () => {
        const { text } = await program.call("GET", "/ready", { as: null });
        return text.includes('"reasons":["the database does not let this process in: ');
      });
      await eventually(async () => countOf("outcomes could not be recorded yet") > waitsBefore);

      await open();
      await eventually(async () => (await recorded()).length === recordedBefore + 1);
      assert.equal((await query("SELECT FROM postern.dispatches")).length, 0);
      assert.equal(receiver.requests.length, sentBefore + 1);
      const metrics = await program.call("GET", "/metrics", { as: null });
      assert.doesNotMatch(metrics.text, /^webhook_outcomes_refused_total\{/m);
    });

  it("does not fill the log: what fails again and again is told every ten seconds", () => {
    assert.match(program.output(), /"level":"warn"/);
    assert.deepEqual(warningsTooOften(), []);
  });
});
