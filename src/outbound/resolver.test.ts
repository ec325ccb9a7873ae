import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { moveClockOf } from "../../test/support/moved-clock.ts";
import { startDnsServer, type AnswerQuestion, type DnsServer } from "../../test/support/dns-server.ts";
import { makeResolver, type Lookup, type NameResolver, type ResolverOptions } from "./resolver.ts";

/** For servers that answer: no busy machine takes so long. */
const PATIENT = { queryTimeoutMs: 20_000, queryTries: 1, lookupTimeoutMs: 60_000 };
/** For servers that never answer. */
const QUICK = { queryTimeoutMs: 40, queryTries: 1, lookupTimeoutMs: 400 };

async function setUp(
  test: TestContext,
  answer: AnswerQuestion,
  options: ResolverOptions = {},
): Promise<{ dns: DnsServer; resolver: NameResolver }> {
  const dns = await startDnsServer(answer);
  const limits = { ...PATIENT, ...options.limits };
  const resolver = makeResolver({ ...options, servers: [dns.address], limits });
  test.after(async () => {
    resolver.close();
    await dns.close();
  });
  return { dns, resolver };
}

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

function brief(lookup: Lookup): string {
  return lookup.kind === "found" ? lookup.addresses.toSorted().join() : lookup.code;
}

const BOTH = ["192.0.2.1", "2001:db8::1"];

describe("the resolver", () => {
  it("finds IPv4 and IPv6 addresses, and follows a CNAME", async (test) => {
    const { resolver } = await setUp(test, (name) => ({
      kind: "addresses",
      addresses: BOTH,
      ...(name === "alias.dev" ? { alias: "real.dev" } : {}),
    }));
    equal(brief(await resolver.resolve("plain.dev")), BOTH.join());
    equal(brief(await resolver.resolve("alias.dev")), BOTH.join());
  });

  it("asks for the name as it is, without search domains, single labels too", async (test) => {
    const asked: string[] = [];
    const { resolver } = await setUp(test, (name) => {
      asked.push(name);
      return { kind: "nxdomain" };
    });
    await resolver.resolve("receiver");
    deepEqual(new Set(asked), new Set(["receiver"]));
  });

  for (const [kind, code] of [
    ["nxdomain", "ENOTFOUND"],
    ["nodata", "ENODATA"],
    ["servfail", "ESERVFAIL"],
    ["silent", "ETIMEOUT"],
  ] as const) {
    it(`does not find a name whose server answers ${kind}: ${code}`, async (test) => {
      const { resolver } = await setUp(test, () => ({ kind }), {
        limits: kind === "silent" ? QUICK : PATIENT,
      });
      equal(brief(await resolver.resolve("a.dev")), code);
    });
  }

  it("does not find a name whose server answers garbage", async (test) => {
    const { resolver } = await setUp(test, () => ({ kind: "garbage" }), { limits: QUICK });
    equal((await resolver.resolve("a.dev")).kind, "not_found");
  });

  for (const kind of ["nodata", "servfail", "silent", "nxdomain"] as const) {
    it(`takes the IPv4 addresses where the IPv6 question ends in ${kind}`, async (test) => {
      const { resolver } = await setUp(
        test,
        (_name, type) => (type === "AAAA" ? { kind } : { kind: "addresses", addresses: BOTH }),
        { limits: kind === "silent" ? { queryTimeoutMs: 1_000 } : PATIENT },
      );
      equal(brief(await resolver.resolve("a.dev")), "192.0.2.1");
    });
  }

  it("takes an answer that is slow but in time, and not the late half of one", async (test) => {
    const { resolver } = await setUp(
      test,
      (_name, type) => ({ kind: "addresses", addresses: BOTH, delayMs: type === "A" ? 30 : 5_000 }),
      { limits: { queryTimeoutMs: 60_000, lookupTimeoutMs: 1_000 } },
    );
    equal(brief(await resolver.resolve("a.dev")), "192.0.2.1");
  });

  it("gives up at its time limit, whatever its tries", async (test) => {
    const { resolver } = await setUp(test, () => ({ kind: "silent" }), {
      limits: { queryTimeoutMs: 60_000, lookupTimeoutMs: 30 },
    });
    equal(brief(await resolver.resolve("a.dev")), "ETIMEOUT");
  });

  it("leaves no timer behind once the answers are there", async (test) => {
    const { resolver } = await setUp(test, () => ({ kind: "addresses", addresses: BOTH }));
    const before = countTimers();
    await resolver.resolve("a.dev");
    equal(countTimers(), before);
  });

  it("names an address once, however often the answer has it", async (test) => {
    const { resolver } = await setUp(test, () => ({ kind: "addresses", addresses: [...BOTH, ...BOTH] }));
    equal(brief(await resolver.resolve("a.dev")), BOTH.join());
  });

  it("refuses a name server that is no address", () => {
    throws(() => makeResolver({ servers: ["dns.example.com"] }));
  });
});

describe("the resolver's cache", () => {
  it("keeps an answer for its TTL and shares questions under way", async (test) => {
    const { dns, resolver } = await setUp(test, () => ({
      kind: "addresses",
      addresses: BOTH,
      ttlSeconds: 60,
    }));
    const lookups = await Promise.all([resolver.resolve("a.dev"), resolver.resolve("a.dev")]);
    equal(lookups[0], lookups[1]);
    equal(await resolver.resolve("a.dev"), lookups[0]);
    equal(resolver.peek("a.dev"), lookups[0]);
    equal(dns.questionCount("a.dev", "A"), 1);
    equal(dns.questionCount("a.dev", "AAAA"), 1);
  });

  it("keeps no answer longer than allowed, however long its TTL", async (test) => {
    const { dns, resolver } = await setUp(
      test,
      () => ({ kind: "addresses", addresses: BOTH, ttlSeconds: 86_400 }),
      { limits: { maxTtlMs: 0 } },
    );
    await resolver.resolve("a.dev");
    equal(resolver.peek("a.dev"), undefined);
    await resolver.resolve("a.dev");
    equal(dns.questionCount("a.dev", "A"), 2);
  });

  it("keeps an answer with TTL 0 for its shortest time", async (test) => {
    const { dns, resolver } = await setUp(
      test,
      () => ({ kind: "addresses", addresses: BOTH, ttlSeconds: 0 }),
      { limits: { minTtlMs: 60_000 } },
    );
    await resolver.resolve("a.dev");
    await resolver.resolve("a.dev");
    equal(dns.questionCount("a.dev", "A"), 1);
  });

  it("keeps an answer until the shortest of its TTLs has passed, and then asks again", async (test) => {
    const moveClock = moveClockOf(test);
    const { dns, resolver } = await setUp(test, (_name, type) => ({
      kind: "addresses",
      addresses: BOTH,
      ttlSeconds: type === "A" ? 20 : 10,
    }));
    const found = await resolver.resolve("a.dev");
    moveClock(9_999);
    equal(resolver.peek("a.dev"), found);
    moveClock(1);
    equal(resolver.peek("a.dev"), undefined);
    await resolver.resolve("a.dev");
    equal(dns.questionCount("a.dev", "A"), 2);
  });

  for (const [what, ttlSeconds, keptMs] of [
    ["a TTL of 0 for a second", 0, 1_000],
    ["a TTL of a day for half a minute", 86_400, 30_000],
  ] as const) {
    it(`keeps an answer with ${what}`, async (test) => {
      const moveClock = moveClockOf(test);
      const { resolver } = await setUp(test, () => ({ kind: "addresses", addresses: BOTH, ttlSeconds }));
      const found = await resolver.resolve("a.dev");
      moveClock(keptMs - 1);
      equal(resolver.peek("a.dev"), found);
      moveClock(1);
      equal(resolver.peek("a.dev"), undefined);
    });
  }

  it("keeps a failure for a second", async (test) => {
    const moveClock = moveClockOf(test);
    const { resolver } = await setUp(test, () => ({ kind: "nxdomain" }));
    const failure = await resolver.resolve("a.dev");
    moveClock(999);
    equal(resolver.peek("a.dev"), failure);
    moveClock(1);
    equal(resolver.peek("a.dev"), undefined);
  });

  it("does not keep failures where told so", async (test) => {
    const { resolver } = await setUp(
      test,
      (_name, _type, index) => (index === 0 ? { kind: "nxdomain" } : { kind: "addresses", addresses: BOTH }),
      { limits: { negativeTtlMs: 0 } },
    );
    equal(brief(await resolver.resolve("a.dev")), "ENOTFOUND");
    equal(brief(await resolver.resolve("a.dev")), BOTH.join());
  });

  it("forgets the oldest name when full", async (test) => {
    const { resolver } = await setUp(test, () => ({ kind: "addresses", addresses: BOTH }), {
      limits: { maxCachedNames: 2 },
    });
    for (const name of ["a.dev", "b.dev", "c.dev"]) await resolver.resolve(name);
    equal(resolver.peek("a.dev"), undefined);
    ok(resolver.peek("b.dev") !== undefined && resolver.peek("c.dev") !== undefined);
  });
});

describe("a full cache", () => {
  it("counts a name as new when it was asked for again", async (test) => {
    const moveClock = moveClockOf(test);
    const { resolver } = await setUp(
      test,
      (name) => ({ kind: "addresses", addresses: BOTH, ttlSeconds: name === "a.dev" ? 5 : 25 }),
      { limits: { maxCachedNames: 2 } },
    );
    for (const name of ["b.dev", "a.dev"]) await resolver.resolve(name);
    moveClock(5_000);
    await resolver.resolve("a.dev");
    ok(resolver.peek("b.dev") !== undefined, "it takes no other's place");
    await resolver.resolve("b.dev");
    moveClock(5_000);
    for (const name of ["a.dev", "c.dev"]) await resolver.resolve(name);
    equal(resolver.peek("b.dev"), undefined);
    ok(resolver.peek("a.dev") !== undefined && resolver.peek("c.dev") !== undefined);
  });
});

describe("names for development", () => {
  it("come from the fixed ones and the hosts file before DNS", async (test) => {
    const folder = await mkdtemp(join(tmpdir(), "postern-hosts-"));
    test.after(() => rm(folder, { recursive: true }));
    const hostsFile = join(folder, "hosts");
    await writeFile(
      hostsFile,
      "# a comment\n10.0.0.9\tReceiver other # here\r\n::9 receiver\n10.0.0.8 localhost\n  10.0.0.7 \t spaced\n",
    );
    const { dns, resolver } = await setUp(test, () => ({ kind: "addresses", addresses: BOTH }), {
      hostsFile,
      fixedNames: new Map([["localhost", ["127.0.0.1"]]]),
    });
    equal(brief(await resolver.resolve("localhost")), "127.0.0.1");
    equal(brief(await resolver.resolve("receiver")), "10.0.0.9,::9");
    equal(brief(await resolver.resolve("other")), "10.0.0.9");
    equal(dns.questionCount("receiver", "A"), 0);
    equal(brief(await resolver.resolve("spaced")), "10.0.0.7");
    equal(brief(await resolver.resolve("here")), BOTH.join());
  });

  it("are read again from the hosts file a second later", async (test) => {
    const moveClock = moveClockOf(test);
    const folder = await mkdtemp(join(tmpdir(), "postern-hosts-"));
    test.after(() => rm(folder, { recursive: true }));
    const hostsFile = join(folder, "hosts");
    await writeFile(hostsFile, "10.0.0.9 receiver\n");
    const { resolver } = await setUp(test, () => ({ kind: "nxdomain" }), { hostsFile });
    equal(brief(await resolver.resolve("receiver")), "10.0.0.9");
    await writeFile(hostsFile, "10.0.0.8 receiver\n");
    moveClock(999);
    equal(brief(await resolver.resolve("receiver")), "10.0.0.9");
    moveClock(1);
    equal(brief(await resolver.resolve("receiver")), "10.0.0.8");
  });

  it("come from DNS where there is no hosts file", async (test) => {
    const { resolver } = await setUp(test, () => ({ kind: "addresses", addresses: BOTH }), {
      hostsFile: "/nonexistent/hosts",
    });
    equal(brief(await resolver.resolve("receiver")), BOTH.join());
  });
});
