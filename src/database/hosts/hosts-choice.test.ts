import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { pretend, sayHost } from "../../../test/support/pretended-server.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { sessions } from "../../../test/support/sessions.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { Hosts } from "./hosts.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

type Said = Parameters<typeof sayHost>[0] | "wrong login" | "gone";

/** Hosts named a, b, … that say this of themselves. */
async function hostsThat(...all: Said[]) {
  const made = await Promise.all(
    all.map(async (said, place) => {
      const name = String.fromCodePoint(97 + place);
      const url = new URL(database.url);
      if (said === "wrong login") url.pathname = "/no_such_database";
      if (said === "gone") url.port = "1";
      if (typeof said === "string") return { name, url: url.href, become: async () => assert.fail(said) };
      const pretended = await pretend(database, sayHost(said));
      return { name, url: pretended.url, become: (other: typeof said) => pretended.say(sayHost(other)) };
    }),
  );
  return { hosts: new Hosts(made), become: made.map(({ become }) => become) };
}

const refusals = (hosts: Hosts) => hosts.states().map(({ refusal }) => refusal);
const behind = (timeline: number, newer: number) =>
  `is on timeline ${timeline}, and a newer primary on timeline ${newer} was seen: it is never written to again`;

const another = (system: string) => `belongs to another cluster (system identifier ${system}, not 1)`;

describe("of several hosts", () => {
  it("the one on the newest timeline is used, wherever it is in the list, and only its timeline is noted", async () => {
    const { hosts } = await hostsThat({ timeline: 2 }, { isStandby: true }, { timeline: 3 }, { timeline: 1 });
    const raised: unknown[] = [];
    hosts.remember({ timelineOf: () => 0, raise: (...seen) => void raised.push(seen) });
    assert.equal((await hosts.pick()).host.name, "c");
    assert.deepEqual([hosts.current(), hosts.timeline(), raised], ["c", 3, [["1", 3]]]);
    assert.deepEqual(refusals(hosts), [behind(2, 3), "is a standby", null, behind(1, 3)]);
  });

  it("the first in the list is used of those on the same timeline", async () => {
    const { hosts } = await hostsThat({ isStandby: true }, { timeline: 7 }, { timeline: 7 });
    assert.equal((await hosts.pick()).host.name, "b");
    await Promise.all([hosts.look(), hosts.look()]);
    assert.deepEqual([hosts.current(), hosts.timeline()], ["b", 7]);
  });

  it("none is used while two of different databases accept writes, and the mistake is told", async () => {
    const { hosts, become } = await hostsThat({}, { system: "2" }, { system: "3", isStandby: true });
    for (let again = 0; again < 2; again++) {
      await assert.rejects(hosts.pick(), {
        name: "ConfigError",
        message:
          "The hosts of DATABASE_URL are different databases, and several accept writes: a (system identifier 1), b (system identifier 2).\nName one primary and its own standbys.",
      });
      assert.deepEqual([refusals(hosts), hosts.current()], [[null, null, "is a standby"], null]);
    }
    await eventually(async () => (await checks()) === 0);
    await become[1]?.({ system: "2", isStandby: true });
    assert.equal((await hosts.pick()).host.name, "a");
    assert.deepEqual(refusals(hosts), [null, another("2"), another("3")]);
  });

  it("a standby alone does not say which cluster is meant", async () => {
    const { hosts, become } = await hostsThat({ system: "2", isStandby: true }, { isStandby: true });
    await assert.rejects(hosts.pick(), {
      name: "NoHostError",
      message: "no host of DATABASE_URL accepts writes: a is a standby; b is a standby",
    });
    await become[1]?.({});
    assert.equal((await hosts.pick()).host.name, "b");
  });

  it("a timeline is remembered of the cluster that accepts writes", async () => {
    const { hosts } = await hostsThat({ timeline: 3, system: "5" });
    const asked: string[] = [];
    const timelineOf = (system: string) => asked.push(system) + 2;
    hosts.remember({ timelineOf, raise: () => assert.fail("it is not newer") });
    assert.equal((await hosts.pick()).host.name, "a");
    assert.deepEqual([asked, hosts.timeline()], [["5"], 3]);
  });

  it("another is used as soon as it is on a newer timeline, and again the first once it is on one", async () => {
    const { hosts, become } = await hostsThat({ timeline: 1 }, { timeline: 1, isStandby: true });
    assert.equal((await hosts.pick()).host.name, "a");
    await become[1]?.({ timeline: 2 });
    hosts.doubt();
    await eventually(async () => {
      await hosts.look();
      return hosts.current() === "b";
    });
    assert.equal((await hosts.pick()).host.name, "b");
    assert.equal(refusals(hosts)[0], behind(1, 2));
    await become[1]?.({ isStandby: true });
    await become[0]?.({ timeline: 3 });
    hosts.doubt();
    await eventually(async () => {
      await hosts.look();
      return hosts.current() === "a";
    });
    assert.deepEqual([hosts.timeline(), refusals(hosts)[0]], [3, null]);
  });

  it("a login that is refused is the operator's mistake, unless another host lets in", async () => {
    const mistaken = await hostsThat("gone", "wrong login");
    await assert.rejects(mistaken.hosts.pick(), { code: "3D000" });
    const { hosts } = await hostsThat("wrong login", { isStandby: true });
    await assert.rejects(hosts.pick(), {
      name: "NoHostError",
      message:
        /^no host of DATABASE_URL accepts writes: a cannot be used: database "no_such_database" does not exist; b is a standby$/,
    });
  });

  it("none is waited for once all have answered", async (test) => {
    const { hosts, become } = await hostsThat({}, { isStandby: true });
    await hosts.pick();
    await become[0]?.({ isStandby: true });
    hosts.doubt();
    test.mock.timers.enable({ apis: ["setTimeout"] });
    await hosts.look();
    assert.deepEqual(refusals(hosts), ["is a standby", "is a standby"]);
  });

  it("none is asked twice at a time", async () => {
    const { hosts } = await hostsThat({});
    for (let again = 0; again < 2; again++) {
      const looking = hosts.look();
      assert.equal(hosts.look(), looking);
      await looking;
    }
  });

  it("all are asked by a check before one is known, and it alone then", async () => {
    const { hosts, become } = await hostsThat({}, { isStandby: true });
    await hosts.check();
    assert.equal(hosts.current(), "a");
    await become[1]?.({ timeline: 2 });
    await hosts.check();
    assert.deepEqual([hosts.current(), refusals(hosts)], ["a", [null, "is a standby"]]);
    await become[0]?.({ isStandby: true });
    await hosts.check();
    await eventually(async () => hosts.current() === "b");
  });
});

/** The connections for asking hosts. */
const checks = async () => (await sessions(database.pool, { name: "postern host check" })).length;

it("the connection for asking the host in use stays open while checks are frequent, and no other", async () => {
  const { hosts } = await hostsThat({}, { isStandby: true });
  await hosts.look();
  await eventually(async () => (await checks()) === 0);
  hosts.keepAsking(true);
  await hosts.look();
  await hosts.look();
  await eventually(async () => (await checks()) === 1);
  hosts.keepAsking(false);
  await eventually(async () => (await checks()) === 0);
});

/** A host that can be made silent, and one that answers; time passes for neither. */
async function withSilence(test: TestContext, order: readonly ("silent" | "live")[]) {
  const { port } = new URL(database.url);
  const proxy = await startTcpProxy(Number(port));
  test.after(() => proxy.close());
  const hosts = new Hosts(
    order.map((name) => {
      const url = new URL(database.url);
      if (name === "silent") url.port = String(proxy.port);
      return { name, url: url.href };
    }),
  );
  await hosts.pick();
  proxy.pause();
  test.mock.timers.enable({ apis: ["setTimeout"] });
  return { hosts, proxy };
}

describe("a host that is silent", () => {
  it("is not waited for where another accepts writes, and its answer is noted when it comes", async (test) => {
    const { hosts, proxy } = await withSilence(test, ["live", "silent"]);
    hosts.doubt();
    await hosts.look();
    assert.equal((await hosts.pick()).host.name, "live");
    proxy.resume();
    test.mock.timers.reset();
    await eventually(async () => refusals(hosts)[1] === null);
  });

  it("ends a look by its time", async (test) => {
    const { hosts } = await withSilence(test, ["silent"]);
    const looking = hosts.look();
    test.mock.timers.tick(1500);
    await looking;
    assert.equal(hosts.current(), "silent");
  });

  it("is waited for while it may still answer, and said to be silent then", async (test) => {
    const { hosts } = await withSilence(test, ["silent"]);
    hosts.doubt();
    let looks = 0;
    const look = hosts.look.bind(hosts);
    test.mock.method(hosts, "look", () => {
      looks++;
      return look();
    });
    const outcomes: unknown[] = [];
    void hosts.pick().catch((error: unknown) => outcomes.push(error));
    while (outcomes.length === 0) {
      test.mock.timers.tick(500);
      await new Promise(setImmediate);
    }
    assert.equal(
      String(outcomes),
      "NoHostError: no host of DATABASE_URL accepts writes: silent cannot be used: timeout expired",
    );
    assert.ok(looks > 1);
  });

  it("is doubted by a check, which asks the others", async (test) => {
    const { hosts } = await withSilence(test, ["silent", "live"]);
    const look = test.mock.method(hosts, "look", async () => undefined);
    const checking = hosts.check();
    test.mock.timers.tick(999);
    await new Promise(setImmediate);
    assert.equal(look.mock.callCount(), 0);
    test.mock.timers.tick(1);
    await checking;
    assert.equal(look.mock.callCount(), 1);
  });
});
