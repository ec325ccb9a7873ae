import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { Client } from "pg";
import { eventually } from "../../../test/support/eventually.ts";
import { createTestDatabase } from "../../../test/support/postgres.ts";
import { sessions } from "../../../test/support/sessions.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { askClient } from "./host-probe.ts";
import { Hosts, hostsOf, tellHost } from "./hosts.ts";

const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

it("goes on to another host on the same timeline once the one it used is gone", async () => {
  const database = await createTestDatabase();
  const { port } = new URL(database.url);
  const proxy = await startTcpProxy(Number(port));
  const hosts = new Hosts(
    [proxy.port, port].map((one) => {
      const url = new URL(database.url);
      url.port = String(one);
      return { name: `127.0.0.1:${one}`, url: url.href };
    }),
  );
  assert.equal((await hosts.pick()).host.name, `127.0.0.1:${proxy.port}`);
  await proxy.close();
  // The first look learns that it is gone, and may have asked the other before.
  await hosts.look();
  await hosts.look();
  assert.equal((await hosts.pick()).host.name, `127.0.0.1:${port}`);
  await database.drop();
});

/** A list of hosts by their ports. */
function hostsAt(database: string, ports: readonly (number | string)[]): Hosts {
  return new Hosts(
    ports.map((port) => {
      const url = new URL(database);
      url.port = String(port);
      return { name: `127.0.0.1:${port}`, url: url.href };
    }),
  );
}

it("asks no host again that answered a moment ago, and all when it is doubted", async (test) => {
  const database = await createTestDatabase();
  const { port } = new URL(database.url);
  const proxy = await startTcpProxy(Number(port));
  const hosts = hostsAt(database.url, [proxy.port]);
  assert.deepEqual(hosts.states(), [
    { name: `127.0.0.1:${proxy.port}`, refusal: "has not answered yet", error: null },
  ]);
  const nowMs = performance.now();
  test.mock.method(performance, "now", () => nowMs);
  const picked = await hosts.pick();
  assert.deepEqual([hosts.current(), hosts.timeline() > 0], [picked.host.name, true]);
  assert.deepEqual(hosts.states(), [{ name: picked.host.name, refusal: null, error: null }]);
  await proxy.close();
  assert.equal(await hosts.pick(), picked);
  test.mock.restoreAll();
  hosts.doubt();
  const name = `127.0.0.1:${proxy.port}`;
  const said = new RegExp(`^no host of DATABASE_URL accepts writes: ${name} cannot be used: .*ECONNREFUSED`);
  await assert.rejects(hosts.pick(), { code: "POSTERN_NO_HOST", message: said });
  assert.equal(hosts.current(), null);
  await database.drop();
});

it("waits at its first look for every host, and uses the one that is there", async () => {
  const database = await createTestDatabase();
  const { port } = new URL(database.url);
  const hosts = hostsAt(database.url, [1, port]);
  assert.equal((await hosts.pick()).host.name, `127.0.0.1:${port}`);
  const [gone, there] = hosts.states();
  assert.deepEqual([gone?.refusal, there?.refusal], ["cannot be used", null]);
  await database.drop();
});

it("leaves no timer behind when a host has answered, and keeps its connection only while checks are frequent", async () => {
  const database = await createTestDatabase();
  const hosts = hostsAt(database.url, [new URL(database.url).port]);
  await hosts.pick();
  const before = countTimers();
  await hosts.look();
  assert.ok(countTimers() <= before);
  const checks = () => sessions(database.pool, { name: "postern host check" });
  await eventually(async () => (await checks()).length === 0);
  hosts.keepAsking(true);
  await hosts.check();
  assert.equal((await checks()).length, 1);
  hosts.keepAsking(false);
  await eventually(async () => (await checks()).length === 0);
  await database.drop();
});

it("tells the operator's mistake where every host refuses the login", async () => {
  const database = await createTestDatabase();
  const url = new URL(database.url);
  url.pathname = "/no_such_database";
  await assert.rejects(hostsAt(url.href, [url.port, url.port]).pick(), { code: "3D000" });
  await database.drop();
});

it("raises the newest timeline that was remembered, and refuses a host behind it", async () => {
  const database = await createTestDatabase();
  const { port } = new URL(database.url);
  const hosts = hostsAt(database.url, [port]);
  const raised: number[] = [];
  hosts.remember({ timelineOf: () => 7, raise: (_system, timeline) => void raised.push(timeline) });
  await assert.rejects(hosts.pick(), { code: "POSTERN_NO_HOST" });
  assert.deepEqual([hosts.timeline(), raised], [7, []]);
  const fresh = hostsAt(database.url, [port]);
  fresh.remember({ timelineOf: () => 0, raise: (_system, timeline) => void raised.push(timeline) });
  await fresh.pick();
  assert.deepEqual(raised, [fresh.timeline()]);
  await database.drop();
});

it("is checked by asking the host in use, and the others once that is gone", async () => {
  const database = await createTestDatabase();
  const { port } = new URL(database.url);
  const proxy = await startTcpProxy(Number(port));
  const hosts = hostsAt(database.url, [proxy.port, port]);
  await hosts.pick();
  hosts.keepAsking(true);
  await hosts.check();
  assert.equal(hosts.current(), `127.0.0.1:${proxy.port}`);
  await proxy.close();
  // The first learns that it is gone.
  await hosts.check();
  await hosts.check();
  assert.equal(hosts.current(), `127.0.0.1:${port}`);
  hosts.keepAsking(false);
  await database.drop();
});

it("cuts off connections to a former primary as soon as a newer timeline is seen, and admits no more", async () => {
  const database = await createTestDatabase();
  const { port } = new URL(database.url);
  const hosts = hostsAt(database.url, [port]);
  const probe = await hosts.pick();
  const clients = [1, 2, 3].map(() => new Client({ connectionString: database.url }));
  const [old, current, ended] = clients;
  assert.ok(old !== undefined && current !== undefined && ended !== undefined);
  await Promise.all(clients.map((client) => client.connect()));
  const answer = await askClient(old, 3000);
  const timeline = (answer.timeline ?? 0) + 1;
  for (const one of [old, ended]) hosts.admit(one, probe, answer);
  await ended.end();
  let looks = 0;
  Object.defineProperty(ended, "connection", { get: () => (looks += 1) });
  const lost = once(old, "error");
  // It may tell of its end too.
  old.on("error", () => undefined);
  hosts.admit(current, probe, { ...answer, timeline });
  assert.match(String((await lost)[0]), /another host of DATABASE_URL has taken over/);
  assert.equal(hosts.timeline(), timeline);
  // One that has ended is forgotten: a service would keep every connection that it ever had.
  assert.equal(looks, 0);
  assert.throws(() => hosts.admit(current, probe, answer), {
    code: "POSTERN_CONNECTION_REFUSED",
    message: `${probe.host.name} is on timeline ${timeline - 1}, and a newer primary on timeline ${timeline} was seen: it is never written to again`,
  });
  assert.equal((await current.query("SELECT 1")).rowCount, 1);
  await current.end();
  await database.drop();
});

it("is one of a list for the whole process, and none for a single host", () => {
  const list = "postgres://user@one.example,two.example/postern";
  assert.ok(hostsOf(list) instanceof Hosts);
  assert.equal(hostsOf(list), hostsOf(list));
  assert.notEqual(hostsOf(list), hostsOf(`${list}2`));
  assert.equal(hostsOf("postgres://user@one.example/postern"), null);
});

it("is told with what it refuses, or that it accepts writes", () => {
  const name = "db1:5432";
  assert.equal(tellHost({ name, refusal: null, error: null }), "db1:5432 accepts writes");
  assert.equal(tellHost({ name, refusal: "is a standby", error: null }), "db1:5432 is a standby");
  const error = new Error("no route");
  assert.equal(tellHost({ name, refusal: "cannot be used", error }), "db1:5432 cannot be used: no route");
});
