import assert from "node:assert/strict";
import { afterEach, describe, it, mock } from "node:test";
import { holdWaits, releaseWaits } from "../../../test/support/held-waits.ts";
import { makeHostWatch, makeTeller } from "./host-watch.ts";
import { hostsOf, type HostState } from "./hosts.ts";

it("tells each trouble of a host once, and again when it comes back", () => {
  const told: string[] = [];
  const log = { info: () => undefined, warn: (text: string) => void told.push(text) };
  const refusals = ["is read-only", "is read-only", null, "is read-only", "is a standby", "is read-only"];
  const states: HostState[][] = refusals.map((refusal) => [{ name: "db1:5432", refusal, error: null }]);
  const hosts = { current: () => null, timeline: () => 1, states: () => states.shift() ?? [] };
  const tell = makeTeller(hosts, log);
  for (const _ of refusals) tell();
  assert.deepEqual(
    told,
    [0, 1, 2].map(() => "A host of DATABASE_URL can't be used: db1:5432 is read-only"),
  );
});

it("tells each new primary once, and no trouble of a standby or of a host that answers", () => {
  const told: string[] = [];
  const tell = (kind: string) => (text: string) => void told.push(`${kind} ${text}`);
  const currents = [null, "db1", "db1", null, "db1", "db2", "db1"];
  const states: HostState[] = [
    { name: "db1", refusal: null, error: null },
    { name: "db2", refusal: "is a standby", error: null },
    { name: "db3", refusal: "cannot be used", error: new Error("no route") },
  ];
  let timeline = 0;
  const hosts = { current: () => currents[timeline] ?? null, timeline: () => timeline, states: () => states };
  const look = makeTeller(hosts, { info: tell("info"), warn: tell("warn") });
  for (; timeline < currents.length; timeline++) look();
  assert.deepEqual(told, [
    "warn A host of DATABASE_URL can't be used: db3 cannot be used: no route",
    "info The database's primary is db1, on timeline 1",
    "info The database's primary is db2, on timeline 5",
    "info The database's primary is db1, on timeline 6",
  ]);
});

describe("the watch of hosts", () => {
  it("asks all of them at first and at every sixth check, and the one in use between, until it is stopped", async () => {
    const databaseUrl = "postgres://user@one.example,two.example/watched";
    const hosts = hostsOf(databaseUrl);
    assert.ok(hosts !== null);
    const done: unknown[] = [];
    for (const name of ["look", "check"] as const) mock.method(hosts, name, async () => void done.push(name));
    mock.method(hosts, "keepAsking", (isOn: boolean) => void done.push(isOn));
    const waits = holdWaits();
    const told: string[] = [];
    const log = { info: assert.fail, warn: (text: string) => void told.push(text) };
    const watch = makeHostWatch({ databaseUrl, log });
    watch.start();
    for (let checks = 1; checks <= 13; checks++) {
      while (waits.length < checks) await new Promise(setImmediate);
      if (checks < 13) waits[checks - 1]?.end();
    }
    await watch.stop();
    const five = Array.from({ length: 5 }, () => "check");
    assert.deepEqual(done, [true, "look", ...five, "look", ...five, "look", false]);
    assert.deepEqual(new Set(waits.map(({ ms }) => ms)), new Set([500]));
    assert.deepEqual(
      told,
      ["one.example:5432", "two.example:5432"].map(
        (name) => `A host of DATABASE_URL can't be used: ${name} has not answered yet`,
      ),
    );
  });

  it("tells what failed, and goes on", async () => {
    const databaseUrl = "postgres://user@one.example,two.example/failing";
    const hosts = hostsOf(databaseUrl);
    assert.ok(hosts !== null);
    mock.method(hosts, "look", async () => Promise.reject(new Error("no")));
    const waits = holdWaits();
    const told: string[] = [];
    const watch = makeHostWatch({
      databaseUrl,
      log: { info: assert.fail, warn: (text) => void told.push(text) },
    });
    watch.start();
    while (waits.length === 0) await new Promise(setImmediate);
    await watch.stop();
    assert.deepEqual(told, ["The hosts of DATABASE_URL could not be checked: no"]);
  });

  it("of a single host does nothing", async () => {
    const log = { info: assert.fail, warn: assert.fail };
    const watch = makeHostWatch({ databaseUrl: "postgres://user@one.example/postern", log });
    watch.start();
    await watch.stop();
  });
});

afterEach(releaseWaits);
