/** The program with several hosts: what it says at its start, in `doctor`, in /ready and in /metrics. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { runProgram, sharedSettings, startProgram } from "./support/program.ts";
import { type Replicated, type Server, startReplicated } from "./support/replicated-postgres.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";

let replicated: Replicated;
let primary: Server;
let standby: Server;
let env: Environment;

before(async () => {
  replicated = await startReplicated();
  const [one, other] = replicated.servers;
  assert.ok(one && other);
  [primary, standby] = [one, other];
  env = { ...(await sharedSettings(replicated.url, "")), DURABILITY: "standby", NODE_EXTRA_CA_CERTS: "" };
});
after(() => replicated.close());

const hosts = () => replicated.servers.map(({ port }) => `127.0.0.1:${port}`).join(",");

describe("a start with several hosts", () => {
  const mistakes: [name: string, url: () => string, wrong: RegExp, remedy: RegExp][] = [
    [
      "an unknown user",
      () => `postgres://nobody@${hosts()}/postern`,
      /^The database does not let Postern in: role "nobody" does not exist\.$/,
      /^Check user, password and database name in DATABASE_URL or SHARDS\.$/,
    ],
    [
      "a missing database",
      () => `postgres://postern@${hosts()}/nothing`,
      /^The database does not let Postern in: database "nothing" does not exist\.$/,
      /^Check user, password and database name in DATABASE_URL or SHARDS\.$/,
    ],
    [
      "TLS that no host offers",
      () => `postgres://postern@${hosts()}/postern?sslmode=verify-full`,
      /^DATABASE_URL asks for TLS \(sslmode\), and the database does not offer it\.$/,
      /^Turn on TLS there/,
    ],
    [
      "unknown hosts",
      () => "postgres://postern@one.invalid,other.invalid/postern",
      /^The database can't be used: no host of DATABASE_URL accepts writes: one\.invalid:5432 cannot be used: /,
      /^Check its URL in DATABASE_URL or SHARDS, and that PostgreSQL runs there\.$/,
    ],
  ];
  for (const [name, url, wrong, remedy] of mistakes) {
    it(`ends at once with two lines on ${name}`, async () => {
      const { code, errors } = await runProgram(["up"], { ...env, DATABASE_URL: url() });
      const [, first, second, ...more] = errors
        .trimEnd()
        .split("\n")
        .map((line) => line.trim());
      assert.equal(code, 1);
      assert.match(first ?? "", wrong);
      assert.match(second ?? "", remedy);
      assert.deepEqual(more, []);
    });
  }

  it("refuses a list that has a fault, before anything is opened", async () => {
    const { code, errors } = await runProgram(["up"], { ...env, DATABASE_URL: "postgres://a,,b/postern" });
    assert.equal(code, 1);
    assert.match(errors, /^ +DATABASE_URL has no valid host at place 2 of its list/m);
  });
});

describe("DURABILITY=standby", () => {
  it("makes /ready demand a synchronous standby, and /metrics shows how far it is behind", async () => {
    const url = `postgres://postern@unknown.invalid,${hosts()}/postern`;
    const program = await startProgram(["up"], { ...env, DATABASE_URL: url });
    const ready = () => program.call("GET", "/ready", { as: null });
    const becomes = (status: number, text: RegExp) =>
      eventually(async () => {
        const answer = await ready();
        return answer.status === status && text.test(answer.text);
      });
    await eventually(async () =>
      /"level":"warn".*A host of DATABASE_URL can't be used: unknown\.invalid:5432 cannot be used/.test(
        program.output(),
      ),
    );
    await becomes(
      503,
      /pg_stat_replication is hidden: let an administrator run: GRANT pg_read_all_stats TO postern_worker/,
    );
    await primary.sql("GRANT pg_read_all_stats TO postern_worker");
    await becomes(200, /./);
    const { text } = await program.call("GET", "/metrics", { as: null });
    assert.match(
      text,
      new RegExp(`^webhook_standby_lag_bytes\\{standby="${standby.name}",sync_state="sync"\\} [0-9]+$`, "m"),
    );
    assert.match(text, /^webhook_standby_lag_seconds\{/m);
    await standby.kill();
    await becomes(503, /no synchronous standby follows the database, so commits wait for one/);
    await standby.start();
    await becomes(200, /./);
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  });

  it("is checked by doctor, which tells the hosts apart", async () => {
    const { output } = await runProgram(["doctor"], env);
    assert.match(output, new RegExp(`^ok {4}host: 127\\.0\\.0\\.1:${primary.port} accepts writes$`, "m"));
    assert.match(output, new RegExp(`^ok {4}host: 127\\.0\\.0\\.1:${standby.port} is a standby$`, "m"));
    assert.match(
      output,
      /^ok {4}durability: each commit is on a standby: server_1 \(sync, [0-9]+ bytes behind\)$/m,
    );
    await standby.kill();
    const alone = await runProgram(["doctor"], env);
    await standby.start();
    assert.match(
      alone.output,
      new RegExp(`^warn {2}host: 127\\.0\\.0\\.1:${standby.port} cannot be used: `, "m"),
    );
    assert.match(alone.output, /^fail {2}durability: no synchronous standby follows/m);
    assert.equal(alone.code, 1);
  });
});

describe("without a primary", () => {
  it("publishing is answered with 503 and Retry-After, and goes on after a promotion", async () => {
    const program = await startProgram(["up"], env);
    const publish = () =>
      program.call("POST", "/api/events", { as: PRODUCER, json: { type: "invoice.paid", data: {} } });
    assert.equal((await publish()).status, 202);
    await primary.kill();
    for (let call = 0; call < 3; call++) {
      const { status, headers } = await publish();
      assert.equal(status, 503);
      assert.match(headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
    }
    await eventually(async () => {
      const { text } = await program.call("GET", "/ready", { as: null });
      return text.includes("no host of DATABASE_URL accepts writes");
    });
    await standby.promote();
    await eventually(async () => (await publish()).status === 202);
    // No standby is left, and DURABILITY=standby demands one.
    await eventually(async () => {
      const { text } = await program.call("GET", "/ready", { as: null });
      return text.includes("the database has no synchronous standby");
    });
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  });
});
