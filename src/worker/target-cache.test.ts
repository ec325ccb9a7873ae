/** How long a worker believes what it read of an endpoint, and how often it reads. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, describe, it, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { moveClockOf } from "../../test/support/moved-clock.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import type { EndpointTarget } from "../endpoints/endpoint.ts";
import { sealSigningSecret } from "../endpoints/signing-secret.ts";
import { generateSigningSecret } from "../outbound/signature.ts";
import { systemClock } from "../shared/clock.ts";
import { newEndpointId, parseTenantId, type EndpointKey } from "../shared/id.ts";
import { makeSecretBox, SecretBoxError } from "../shared/secret-box.ts";
import { makeTargetCache, type TargetCache } from "./target-cache.ts";

const box = makeSecretBox([randomBytes(32)]);
const SECRET = generateSigningSecret();

function newKey(): EndpointKey {
  const tenantId = parseTenantId("acme");
  assert.ok(tenantId !== null);
  return { tenantId, endpointId: newEndpointId() };
}

function stored(key: EndpointKey, secret = sealSigningSecret(box, SECRET, key)): EndpointTarget {
  return {
    ...key,
    url: "https://hooks.example.com/",
    events: ["*"],
    enabled: true,
    mode: "push",
    temporaryUntil: null,
    rateLimit: null,
    headers: {},
    maskedHeaders: [],
    sealedHeaders: null,
    failingSince: null,
    secret,
    previousSecret: null,
    keeps: null,
  };
}

describe("a worker's targets", () => {
  let reads: EndpointKey[][];
  let table: Map<string, EndpointTarget>;
  let cache: TargetCache;
  let failures: Error[];
  const key = newKey();

  beforeEach(() => {
    reads = [];
    table = new Map([[key.endpointId, stored(key)]]);
    failures = [];
    cache = makeTargetCache(read, box, systemClock);
  });

  async function read(keys: readonly EndpointKey[]): Promise<EndpointTarget[]> {
    reads.push([...keys]);
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    // In an order of its own, as a database answers.
    return keys.toReversed().flatMap(({ endpointId }) => table.get(endpointId) ?? []);
  }

  it("are read together when asked for together, and each once", async () => {
    const other = newKey();
    table.set(other.endpointId, { ...stored(other), url: "https://other.example.com/" });
    const targets = await Promise.all([key, other, key, newKey()].map((one) => cache.get(one)));
    assert.deepEqual(
      targets.map((target) => target?.url),
      ["https://hooks.example.com/", "https://other.example.com/", "https://hooks.example.com/", undefined],
    );
    assert.deepEqual(
      reads.map((keys) => keys.length),
      [3],
    );
  });

  it("are used again without a read for half a second, and read again after it", async (test) => {
    const moveClock = clockOf(test);
    assert.equal(cache.fresh(key), undefined);
    const target = await cache.get(key);
    assert.ok(target !== null);
    moveClock(500);
    assert.equal(cache.fresh(key), target);
    assert.equal(await cache.get(key), target);
    moveClock(1);
    assert.equal(cache.fresh(key), undefined);
    assert.notEqual(await cache.get(key), target);
    assert.equal(reads.length, 2);
  });

  it("of a deleted endpoint are remembered as none", async () => {
    table.clear();
    assert.equal(await cache.get(key), null);
    assert.equal(cache.fresh(key), null);
    assert.equal(await cache.get(key), null);
    assert.equal(reads.length, 1);
  });

  it("are read again once this process has changed the endpoint", async () => {
    await cache.get(key);
    table.set(key.endpointId, { ...stored(key), enabled: false });
    cache.forget(key);
    assert.equal(cache.fresh(key), undefined);
    assert.equal((await cache.get(key))?.enabled, false);
  });

  it("are read again once this process has changed the endpoint, whoever still waits for what was read before", async () => {
    const answer = Promise.withResolvers<void>();
    const slow = makeTargetCache(
      async (keys) => {
        const found = await read(keys);
        if (reads.length === 1) await answer.promise;
        return found;
      },
      box,
      systemClock,
    );
    const before = slow.get(key);
    await setImmediate();
    assert.equal(reads.length, 1);
    table.set(key.endpointId, { ...stored(key), enabled: false });
    slow.forget(key);
    const since = slow.get(key);
    answer.resolve();
    assert.equal((await before)?.enabled, true);
    assert.equal((await since)?.enabled, false);
    assert.equal(slow.fresh(key)?.enabled, false);
    assert.equal(reads.length, 2);
  });

  it("come in the order in which they were asked for where the connection was lost meanwhile", async () => {
    failures.push(new Error("Connection terminated unexpectedly"));
    const clock = new VirtualClock();
    const targets = makeTargetCache(read, box, clock);
    const order: string[] = [];
    const ask = (name: string): void => void targets.get(key).then(() => order.push(name));
    ask("first");
    await clock.runUntil(100);
    ask("second");
    await clock.runUntil(1000);
    assert.deepEqual([order, reads.length], [["first", "second"], 2]);
  });

  it("that cannot be opened are read again at the next attempt", async () => {
    table.set(key.endpointId, stored(key, sealSigningSecret(box, SECRET, newKey())));
    for (const round of [1, 2]) {
      await assert.rejects(cache.get(key), SecretBoxError);
      assert.deepEqual([cache.fresh(key), reads.length], [undefined, round]);
    }
    table.set(key.endpointId, stored(key));
    assert.equal((await cache.get(key))?.url, "https://hooks.example.com/");
  });
});

/** Moves the clock that entries are kept by, which the cache reads once a millisecond. */
function clockOf(test: TestContext): (ms: number) => void {
  const move = moveClockOf(test);
  test.mock.timers.enable({ apis: ["setTimeout"] });
  return (ms) => {
    move(ms);
    test.mock.timers.tick(1);
  };
}
