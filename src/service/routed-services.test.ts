/** Of two shards that note what reaches them: eu1 is the first, acme lives in eu2, and globex in the first. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { tenant } from "../../test/support/two-tenants.ts";
import type { ApiServices } from "../api/services.ts";
import { makeOwnTokens } from "../portal/own-tokens.ts";
import { ALL_TENANTS } from "../portal/portal-session.ts";
import { newPortalSessionId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeRoutedServices } from "./routed-services.ts";

const [acme, globex] = [tenant("acme"), tenant("globex")];
/** Whatever else a service is given: it must arrive as it is. */
const [one, two] = [{ one: 1 }, { two: 2 }].map(Object);
const caller = Object({ tenantId: acme });
const encryptionKeys = [randomBytes(32)];
const wanted = { limit: 7, waitMs: 0, signal: new AbortController().signal };

let reached: unknown[][];
let failures: Map<string, Error>;
/** Where a name is too little. */
let answers: Map<string, unknown>;
let moving: string[];
/** Rejects what waits for a shard that is found away, as a pulse does. */
let away: PromiseWithResolvers<never>;
/** Names of shards that are known not to answer. */
let silent: Set<string>;
let services: ApiServices;
/** What of its folder a shard serves. */
let files: Map<string, unknown>;
/** What was reached while they were made. */
let begun: unknown[][];

/** Each function below it notes its name and what it is given, and answers its name. */
function noting(name: string, known: object = {}): object {
  const note = async (...given: unknown[]): Promise<unknown> => {
    reached.push([name, ...given]);
    const failure = failures.get(name);
    if (failure !== undefined) throw failure;
    return answers.has(name) ? answers.get(name) : name;
  };
  return new Proxy(note, {
    get: (_note, key) =>
      key in known ? Reflect.get(known, key) : typeof key === "string" ? noting(`${name}.${key}`) : undefined,
  });
}

function shard(name: string): object {
  const publisher = {
    query: async (_text: string, [id]: string[]) => {
      reached.push([`${name} is asked for moves of`, id]);
      return { rowCount: moving.includes(id ?? "") ? 1 : 0 };
    },
  };
  const residents = { of: (id: string) => ({ query: async () => void reached.push([`${name} has`, id]) }) };
  return {
    name,
    pulse: {
      async guard(work: () => unknown) {
        if (silent.has(name)) throw new Refusal("unavailable");
        return work();
      },
    },
    parts: {
      pools: { residents, publisher },
      queue: noting(`${name}.queue`),
      auditTally: noting(`${name}.tally`),
      storage: {},
      pull: { offers: {} },
    },
    api: noting(name, { servedFiles: files.get(name) ?? null }),
  };
}

beforeEach(() => {
  reached = [];
  failures = new Map();
  answers = new Map();
  moving = [];
  away = Promise.withResolvers();
  files = new Map();
  silent = new Set();
  services = makeServices();
  begun = reached;
  reached = [];
});

function makeServices(): ApiServices {
  const shards = ["eu1", "eu2"].map(shard);
  const router = {
    atHome: async (id: string, work: (found: unknown) => unknown) =>
      Promise.race([work(shards[id === acme ? 1 : 0]), away.promise]),
    home: async (id: string) => {
      if (id !== acme) throw new Error("it is away");
      return shards[1];
    },
  };
  return makeRoutedServices(
    Object({
      config: { session: { kind: "secret", secret: "s".repeat(32) }, encryptionKeys },
      log: noting("log"),
    }),
    Object({ router, shards, process: { metrics: noting("metrics") }, publisher: noting("publisher") }),
  );
}

describe("with several shards", () => {
  const calls: [name: string, call: () => unknown, given: unknown[]][] = [
    ["logTail.watch", () => services.logTail.watch(acme, one, two), [acme, one, two]],
    ["fetches.lease", () => services.fetches.lease(acme, one, wanted), [acme, one, wanted]],
    ["fetches.acknowledge", () => services.fetches.acknowledge(acme, one, two), [acme, one, two]],
    ["downloads.library", () => services.downloads.library(acme, one), [acme, one]],
    ["downloads.get", () => services.downloads.get(acme, one), [acme, one]],
    ["downloads.issueLink", () => services.downloads.issueLink(caller, one), [caller, one]],
    ["artifactChanges.erase", () => services.artifactChanges.erase(caller, one), [caller, one]],
    ["artifactChanges.hold", () => services.artifactChanges.hold(caller, one, true), [caller, one, true]],
  ];
  for (const [name, call, given] of calls) {
    it(`${name} is the tenant's shard's`, async () => {
      assert.equal(await call(), `eu2.${name}`);
      assert.deepEqual(reached, [[`eu2.${name}`, ...given]]);
    });
  }

  it("a client's wait that a move outlasts goes on for what is left of it", async (test) => {
    let nowMs = 0;
    test.mock.method(performance, "now", () => nowMs);
    const moved = Object.assign(new Error("the tenant is not here"), { code: "PS001" });
    answers = Object({
      has: () => reached.length === 1,
      get() {
        nowMs += 5000;
        throw moved;
      },
    });
    const waiting = { ...wanted, waitMs: 20_000 };
    assert.equal(await services.fetches.lease(acme, one, waiting), "eu2.fetches.lease");
    assert.deepEqual(
      reached.map(([, , , given]) => given),
      [waiting, { ...waiting, waitMs: 15_000 }],
    );
  });

  it("a watch ends that begins once its shard was found away, whose caller was refused", async () => {
    const begins = Promise.withResolvers<unknown>();
    answers.set("eu2.logTail.watch", begins.promise);
    const watching = services.logTail.watch(acme, one, two);
    away.reject(new Refusal("unavailable"));
    await assert.rejects(watching, { code: "unavailable" });
    let isEnded = false;
    begins.resolve(() => void (isEnded = true));
    await setImmediate();
    assert.ok(isEnded);
  });

  it("a session is the tenant's shard's, if it lives there, and that of an operator the first's", async () => {
    for (const [tenantId, home] of [
      [acme, "eu2"],
      [ALL_TENANTS, "eu1"],
      [null, "eu1"],
    ] as const) {
      reached = [];
      const grant = Object({ tenantId });
      assert.equal(await services.portal.grant(one, grant, 5), `${home}.portal.grant`);
      await services.portal.act(one, grant);
      await services.portal.renew(grant);
      await services.portal.end(grant);
      const looks = tenantId === acme ? [["eu2 has", acme]] : [];
      assert.deepEqual(reached, [
        ...looks,
        [`${home}.portal.grant`, one, grant, 5],
        ...looks,
        [`${home}.portal.act`, one, grant],
        ...looks,
        [`${home}.portal.renew`, grant],
        ...looks,
        [`${home}.portal.end`, grant],
      ]);
    }
  });

  it("a session is alive while its tenant's shard says so, if the tenant lives there", async () => {
    const id = newPortalSessionId();
    const grant = { subject: "u1", tenantId: acme, role: "owner", isReadOnly: false } as const;
    const until = new Date(Date.now() + 60_000);
    const authorization = `Bearer ${await makeOwnTokens(encryptionKeys).sign({ id, grant, until }, until)}`;
    answers.set("eu2.portal.isAlive", true);
    assert.equal((await services.sessions.verify(authorization)).tenantId, acme);
    assert.deepEqual(reached, [
      ["eu2 has", acme],
      ["eu2.portal.isAlive", id],
    ]);
    answers.set("eu2.portal.isAlive", false);
    await assert.rejects(services.sessions.verify(authorization), { code: "unauthorized" });
  });

  it("a code is asked for in all, and refused as unknown where all answer that alone", async () => {
    const [unknown, silent] = [new Refusal("unauthorized"), new Refusal("unavailable")];
    failures.set("eu1.portal.open", unknown);
    assert.equal(await services.portal.open(one, two), "eu2.portal.open");
    assert.deepEqual(reached, [
      ["eu1.portal.open", one, two],
      ["eu2.portal.open", one, two],
    ]);
    failures.set("eu2.portal.open", unknown);
    await assert.rejects(services.portal.open(one, two), unknown);
    for (const other of [silent, new Error("it broke")]) {
      failures.set("eu2.portal.open", other);
      await assert.rejects(services.portal.open(one, two), other);
    }
  });

  it("a shard that is known not to answer is not asked by what asks all of them, nor the first for its moves", async () => {
    silent.add("eu1");
    const away = { code: "unavailable" };
    await assert.rejects(services.tenants.count(acme), away);
    assert.equal(reached.length, 0);
    const grant = Object({ tenantId: null });
    await assert.rejects(services.portal.grant(one, grant, 5), away);
    assert.equal(reached.length, 0);
    await assert.rejects(services.tenants.list({ prefix: "", after: "", limit: 2 }), away);
    assert.equal(await services.portal.open(one, two), "eu2.portal.open");
    assert.deepEqual(
      reached.map(([name]) => name),
      ["eu2.tenants.list", "eu2.portal.open"],
    );
  });

  it("what producers publish, and what the API logs, is the process's", async () => {
    await services.publisher.publish(one, two);
    services.log.info("a line");
    assert.deepEqual(reached, [
      ["publisher.publish", one, two],
      ["log.info", "a line"],
    ]);
  });

  it("a key is asked for where its tenant lives", async () => {
    assert.equal(await services.findKey(acme, one), "eu2.findKey");
    assert.deepEqual(reached, [
      ["eu2 has", acme],
      ["eu2.findKey", acme, one],
    ]);
  });

  it("what waits in any of them ends with the process, and files that none has are served by none", async () => {
    services.fetches.close();
    await services.logTail.close();
    assert.deepEqual(
      reached.map(([name]) => name),
      ["eu1.fetches.close", "eu2.fetches.close", "eu1.logTail.close", "eu2.logTail.close"],
    );
    assert.equal(services.servedFiles, null);
  });

  it("whether the process is ready, and what is measured, is asked of each", async () => {
    const [silent, there] = [
      { reasons: ["it is away"], warnings: [] },
      { reasons: [], warnings: [] },
    ];
    answers.set("eu1.readiness.report", silent);
    answers.set("eu2.readiness.report", silent);
    assert.deepEqual((await services.readiness.report()).reasons, ["it is away"]);
    answers.set("eu2.readiness.report", there);
    assert.deepEqual((await services.readiness.report()).reasons, []);
    reached = [];
    await services.readiness.refreshGauges();
    assert.deepEqual(reached, [["eu1.readiness.refreshGauges"], ["eu2.readiness.refreshGauges"]]);
  });

  it("the files of each are served, by the name of its folder", () => {
    files.set("eu1", { signer: one, buckets: new Map([["first", one]]) });
    files.set("eu2", { signer: two, buckets: new Map([["second", two]]) });
    assert.deepEqual(makeServices().servedFiles, {
      signer: one,
      buckets: new Map([
        ["first", one],
        ["second", two],
      ]),
    });
  });
});

const rows = (count: number, held = 0) => ({ rows: new Map([["events", count]]), isCapped: false, held });

describe("tenants of several shards", () => {
  it("are told with their shard, and nobody's is not found", async () => {
    answers.set("eu2.tenants.get", { id: acme });
    assert.deepEqual(await services.tenants.get(acme), { id: acme, shard: "eu2" });
    assert.deepEqual(reached, [
      ["eu2 has", acme],
      ["eu2.tenants.get", acme],
    ]);
    for (const call of [services.tenants.get(null), services.tenants.getErasure(null)])
      await assert.rejects(call, { code: "not_found" });
  });

  it("are listed together, each where it lives", async () => {
    const page = { prefix: "", after: "", limit: 2 };
    answers.set("eu1.tenants.list", [{ id: "zoo" }, { id: acme }]);
    answers.set("eu2.tenants.list", [{ id: acme }, { id: "globex" }]);
    assert.deepEqual(await services.tenants.list(page), [
      { id: acme, shard: "eu2" },
      { id: "globex", shard: "eu2" },
    ]);
    assert.deepEqual(reached, [
      ["eu1.tenants.list", page],
      ["eu2.tenants.list", page],
    ]);
  });

  it("are counted in all, but not while they move", async () => {
    answers.set("eu1.tenants.count", rows(2, 1));
    answers.set("eu2.tenants.count", rows(3));
    assert.deepEqual(await services.tenants.count(acme), rows(5, 1));
    assert.deepEqual(reached[0], ["eu1 is asked for moves of", acme]);
    moving = [acme];
    await assert.rejects(services.tenants.count(acme), (error) => {
      assert.ok(error instanceof Refusal);
      assert.deepEqual(
        error.issues?.map(({ path, code }) => ({ path, code })),
        [{ path: ["tenant_id"], code: "tenant_moving" }],
      );
      return error.code === "tenant_moving";
    });
  });

  it("are erased where they live, once no move is under way", async () => {
    assert.equal(await services.tenants.getErasure(acme), "eu2.tenants.getErasure");
    assert.equal(await services.tenants.erase(caller, acme), "eu2.tenants.erase");
    const [name, by, id, isAllowed] = reached.at(-1) ?? [];
    assert.deepEqual([name, by, id], ["eu2.tenants.erase", caller, acme]);
    assert.ok(typeof isAllowed === "function");
    await isAllowed(null);
    moving = [acme];
    await assert.rejects(isAllowed(null), { code: "tenant_moving" });
    assert.deepEqual(reached.at(-1), ["eu1 is asked for moves of", acme]);
  });

  it("of the first are asked for a move within the transaction that erases", async () => {
    await services.tenants.erase(caller, globex);
    const [name, , , isAllowed] = reached.at(-1) ?? [];
    assert.ok(name === "eu1.tenants.erase" && typeof isAllowed === "function");
    await assert.rejects(isAllowed({ query: async () => ({ rowCount: 1 }) }), { code: "tenant_moving" });
    assert.equal(reached.at(-1)?.[0], name);
  });
});

describe("what is counted for the audit log of several shards", () => {
  it("goes to the shard of its tenant, and what is no tenant's to the first", async () => {
    services.auditTally.failedAuthentication(one);
    services.auditTally.limitReached(Object({ tenantId: acme, limit: "publish" }));
    services.auditTally.limitReached(Object({ tenantId: null, limit: "address" }));
    services.auditTally.accessRefused(Object({ caller }));
    await setImmediate();
    assert.deepEqual(
      new Set(reached.map(([name]) => name)),
      new Set([
        "eu1.tally.failedAuthentication",
        "eu1.tally.limitReached",
        "eu2.tally.accessRefused",
        "eu2.tally.limitReached",
      ]),
    );
  });

  it("is lost where the tenant's shard is not known, which is told", async () => {
    services.auditTally.limitReached(Object({ tenantId: globex, limit: "publish" }));
    await setImmediate();
    const [[name, told] = []] = reached;
    assert.equal(name, "log.warn");
    assert.equal(Object(told).tenantId, globex);
  });

  it("goes to the shard to which its tenant has moved meanwhile", async () => {
    const [name, passOn] = begun.find(([each]) => each === "eu1.tally.onMoved") ?? [];
    assert.ok(name !== undefined && typeof passOn === "function");
    await passOn(acme, [one]);
    assert.deepEqual(reached, [
      ["eu2 has", acme],
      ["eu2.tally.write", [one]],
    ]);
  });

  it("is written by all at the end", async () => {
    await services.auditTally.close();
    assert.deepEqual(reached, [["eu1.tally.close"], ["eu2.tally.close"]]);
  });
});
