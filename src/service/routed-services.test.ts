/** Of two shards that note what reaches them: eu1 is the first, and acme lives in eu2. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import type { ApiServices } from "../api/services.ts";
import { ALL_TENANTS } from "../portal/portal-session.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeRoutedServices } from "./routed-services.ts";

const acme = tenant("acme");
/** Whatever else a service is given: it must arrive as it is. */
const [one, two] = [{ one: 1 }, { two: 2 }].map(Object);
const caller = Object({ tenantId: acme });
const wanted = { limit: 7, waitMs: 0, signal: new AbortController().signal };

let reached: unknown[][];
let failures: Map<string, Error>;
let services: ApiServices;

/** Each function below it notes its name and what it is given, and answers its name. */
function noting(name: string, known: object = {}): object {
  const note = async (...given: unknown[]): Promise<string> => {
    reached.push([name, ...given]);
    const failure = failures.get(name);
    if (failure !== undefined) throw failure;
    return name;
  };
  return new Proxy(note, {
    get: (_note, key) =>
      key in known ? Reflect.get(known, key) : typeof key === "string" ? noting(`${name}.${key}`) : undefined,
  });
}

function shard(name: string): object {
  const residents = { of: (id: string) => ({ query: async () => void reached.push([`${name} has`, id]) }) };
  return {
    name,
    pulse: { guard: (work: () => unknown) => work() },
    parts: {
      pools: { residents },
      queue: noting(`${name}.queue`),
      auditTally: noting(`${name}.tally`),
      storage: {},
      pull: { offers: {} },
    },
    api: noting(name, { servedFiles: null }),
  };
}

beforeEach(() => {
  reached = [];
  failures = new Map();
  const shards = ["eu1", "eu2"].map(shard);
  const router = {
    atHome: async (id: string, work: (found: unknown) => unknown) => work(id === acme ? shards[1] : null),
  };
  services = makeRoutedServices(
    Object({
      config: { session: { kind: "secret", secret: "s".repeat(32) }, encryptionKeys: [randomBytes(32)] },
      log: noting("log"),
    }),
    Object({ router, shards, process: { metrics: noting("metrics") }, publisher: noting("publisher") }),
  );
  reached = [];
});

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

  it("a code is asked for in all, and refused as unknown where all answer that alone", async () => {
    const [unknown, away] = [new Refusal("unauthorized"), new Refusal("unavailable")];
    failures.set("eu1.portal.open", unknown);
    assert.equal(await services.portal.open(one, two), "eu2.portal.open");
    assert.deepEqual(reached, [
      ["eu1.portal.open", one, two],
      ["eu2.portal.open", one, two],
    ]);
    failures.set("eu2.portal.open", unknown);
    await assert.rejects(services.portal.open(one, two), unknown);
    for (const other of [away, new Error("it broke")]) {
      failures.set("eu2.portal.open", other);
      await assert.rejects(services.portal.open(one, two), other);
    }
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
});
