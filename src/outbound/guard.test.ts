/** The guard with a real DNS server, and the sender behind it: what is judged is what is dialled. */
import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it, type TestContext } from "node:test";
import { makeTestCa } from "../../test/support/certificates.ts";
import {
  answersFrom,
  startDnsServer,
  type AnswerQuestion,
  type DnsServer,
} from "../../test/support/dns-server.ts";
import { brief, post, senderFor, type SenderSetup } from "../../test/support/sender.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { startReceiver, type TlsReceiver } from "../../test/support/tls-receiver.ts";
import { makeAddressPolicy } from "./address-rules.ts";
import { makeGuard, type Guard, type GuardOptions } from "./guard.ts";
import type { Sender } from "./send.ts";

/** For servers that answer: no busy machine takes so long. */
const PATIENT = { queryTimeoutMs: 20_000, queryTries: 1, lookupTimeoutMs: 60_000 };
/** For servers that do not, or whose answer counts for nothing. */
const QUICK = { queryTimeoutMs: 40, queryTries: 1, lookupTimeoutMs: 400 };
const UNCACHED = { minTtlMs: 0, negativeTtlMs: 0 };

async function dnsFor(test: TestContext, answer: AnswerQuestion): Promise<DnsServer> {
  const dns = await startDnsServer(answer);
  test.after(() => dns.close());
  return dns;
}

async function guardFor(
  test: TestContext,
  answer: AnswerQuestion,
  options: Partial<GuardOptions> = {},
): Promise<Guard> {
  const dns = await dnsFor(test, answer);
  const guard = makeGuard({
    addressPolicy: makeAddressPolicy({ allowedCidrs: [], deniedCidrs: [] }),
    privateTargetsAllowed: false,
    blockedPorts: new Set([22]),
    dnsServers: [dns.address],
    resolverLimits: PATIENT,
    ...options,
  });
  test.after(() => guard.close());
  return guard;
}

describe("checking a URL for create and update", () => {
  it("takes public names and addresses, and names that do not resolve", async (test) => {
    const guard = await guardFor(test, answersFrom({ "a.dev": ["1.1.1.1", "2606:4700::1"] }));
    for (const url of ["https://a.dev/", "https://1.1.1.1/", "https://unknown.dev/"]) {
      equal(await guard.checkUrl(url), "safe", url);
    }
    const silent = await guardFor(test, () => ({ kind: "silent" }), { resolverLimits: QUICK });
    equal(await silent.checkUrl("https://silent.dev/"), "safe");
  });

  const table = {
    "private.dev": ["10.0.0.1"],
    "metadata.dev": ["169.254.169.254"],
    "mixed.dev": ["1.1.1.1", "192.168.0.1"],
    "six.dev": ["1.1.1.1", "fd00::1"],
    "mapped.dev": ["::ffff:a00:1"],
  };
  const refused: Record<string, string> = {
    "https://private.dev/": "not_public",
    "https://PRIVATE.dev./": "not_public",
    "https://metadata.dev/": "metadata_address",
    "https://mixed.dev/": "not_public",
    "https://six.dev/": "not_public",
    "https://mapped.dev/": "not_public",
    "https://10.0.0.1/": "not_public",
    "https://[::1]/": "not_public",
    "https://[::ffff:1.1.1.1]/": "embedded_ipv4",
    "https://[2002:7f00:1::]/": "not_public",
    "https://localhost/": "special_name",
    "https://a.dev:22/": "blocked_port",
    "http://a.dev/": "not_https",
  };
  for (const [url, unsafe] of Object.entries(refused)) {
    it(`refuses ${url}: ${unsafe}`, async (test) => {
      deepEqual(await (await guardFor(test, answersFrom(table))).checkUrl(url), { unsafe });
    });
  }

  it("refuses a name whose alias leads to a private address", async (test) => {
    const guard = await guardFor(test, () => ({
      kind: "addresses",
      addresses: ["10.0.0.1"],
      alias: "db.corp",
    }));
    deepEqual(await guard.checkUrl("https://a.dev/"), { unsafe: "not_public" });
  });

  it("judges localhost and hosts-file names by their addresses where private targets are allowed", async (test) => {
    const loopback = makeAddressPolicy({ allowedCidrs: ["127.0.0.0/8"], deniedCidrs: [] });
    const other = makeAddressPolicy({ allowedCidrs: ["10.0.0.0/8"], deniedCidrs: [] });
    const answer = answersFrom({ receiver: ["10.0.0.5"] });
    const options = { privateTargetsAllowed: true, hostsFile: "/dev/null" };
    const open = await guardFor(test, answer, { ...options, addressPolicy: loopback });
    equal(await open.checkUrl("https://localhost:8443/"), "safe");
    deepEqual(await open.checkUrl("https://receiver/"), { unsafe: "not_public" });
    const half = await guardFor(test, answer, { ...options, addressPolicy: other });
    deepEqual(await half.checkUrl("https://localhost:8443/"), { unsafe: "not_public" });
    equal(await half.checkUrl("https://receiver/"), "safe");
  });
});

describe("what a guard remembers", () => {
  it("is what it accepted, up to 10,000 URLs", async (test) => {
    const guard = await guardFor(test, answersFrom({}));
    const first = guard.parse("https://a.dev/");
    for (let n = 1; n < 10_000; n++) guard.parse(`https://a.dev/${n}`);
    equal(guard.parse("https://a.dev/"), first);
    guard.parse("https://a.dev/10000");
    notEqual(guard.parse("https://a.dev/"), first);
    notEqual(guard.parse("http://a.dev/"), guard.parse("http://a.dev/"));
  });

  it("is its verdict of an answer, for as long as the answer lives", async (test) => {
    const guard = await guardFor(test, () => ({ ...leadsTo("1.1.1.1"), ttlSeconds: 60 }));
    const target = { host: "a.dev", isIp: false };
    equal(guard.pinCached(target), undefined);
    const pin = await guard.pin(target);
    deepEqual(pin, { kind: "pinned", addresses: ["1.1.1.1"] });
    equal(guard.pinCached(target), pin);
  });
});

describe("a guard's verdict of a URL whose host is an address", () => {
  it("is made once, as long as the URL is remembered", async (test) => {
    const guard = await guardFor(test, answersFrom({}));
    const { url } = targetOf(guard, "https://1.1.1.1/");
    const pin = await guard.pin(url);
    deepEqual(pin, { kind: "pinned", addresses: ["1.1.1.1"] });
    equal(guard.pinCached(url), pin);
    deepEqual(guard.pinCached({ host: "10.0.0.1", isIp: true }), { kind: "unsafe", rule: "not_public" });
  });
});

function targetOf(guard: Guard, text: string) {
  const verdict = guard.parse(text);
  ok(verdict.ok);
  return verdict;
}

describe("names that DNS does not have", () => {
  it("are those of the hosts file, where private targets are allowed", async (test) => {
    const hostsFile = temporaryPath("hosts");
    await writeFile(hostsFile, "1.1.1.1 hosted.dev\n");
    const target = { host: "hosted.dev", isIp: false };
    const open = await guardFor(test, answersFrom({}), { hostsFile, privateTargetsAllowed: true });
    deepEqual(await open.pin(target), { kind: "pinned", addresses: ["1.1.1.1"] });
    const closed = await guardFor(test, answersFrom({}), { hostsFile });
    equal((await closed.pin(target)).kind, "unresolved");
  });

  it("are localhost's allowed loopback addresses", async (test) => {
    const target = { host: "localhost", isIp: false };
    for (const [cidr, address] of [
      ["127.0.0.0/8", "127.0.0.1"],
      ["::1/128", "::1"],
    ] as const) {
      const addressPolicy = makeAddressPolicy({ allowedCidrs: [cidr], deniedCidrs: [] });
      const options = { addressPolicy, privateTargetsAllowed: true, hostsFile: "/dev/null" };
      const guard = await guardFor(test, answersFrom({}), options);
      deepEqual(await guard.pin(target), { kind: "pinned", addresses: [address] });
    }
  });
});

describe("a guard that is closed", () => {
  it("ends the look-ups that are under way", async (test) => {
    const asked = Promise.withResolvers<void>();
    const silent: AnswerQuestion = () => {
      asked.resolve();
      return { kind: "silent" };
    };
    const resolverLimits = { queryTimeoutMs: 100_000, queryTries: 1, lookupTimeoutMs: 100_000 };
    const guard = await guardFor(test, silent, { resolverLimits });
    const pin = guard.pin({ host: "a.dev", isIp: false });
    await asked.promise;
    guard.close();
    // By a time limit, its code would be another.
    deepEqual(await pin, { kind: "unresolved", code: "ECANCELLED" });
  });
});

type Line = { receiver: TlsReceiver; sender: Sender; dns: DnsServer; url: string };

/** A receiver that `hook.dev` leads to as the DNS script says. */
async function lineFor(test: TestContext, answer: AnswerQuestion, setup: SenderSetup = {}): Promise<Line> {
  const ca = await makeTestCa();
  const receiver = await startReceiver({ certificate: await ca.issue({ names: ["hook.dev"] }) });
  test.after(() => receiver.close());
  const dns = await dnsFor(test, answer);
  const sender = senderFor(test, ca.caPem, {
    ...setup,
    guard: { dnsServers: [dns.address], resolverLimits: { ...PATIENT, ...UNCACHED }, ...setup.guard },
  });
  return { receiver, sender, dns, url: `https://hook.dev:${receiver.port}/` };
}

function leadsTo(...addresses: string[]) {
  return { kind: "addresses" as const, addresses, ttlSeconds: 0 };
}

const onlyIpv4: AnswerQuestion = (_name, type) => (type === "A" ? leadsTo("127.0.0.1") : { kind: "silent" });

describe("sending to a name", () => {
  it("dials its address, with the name in TLS and in Host", async (test) => {
    const { receiver, sender, url } = await lineFor(test, () => leadsTo("127.0.0.1"));
    equal(brief(await post(sender, url)), "200");
    equal(receiver.requests[0]?.serverName, "hook.dev");
    equal(receiver.requests[0]?.headers.host, `hook.dev:${receiver.port}`);
  });

  it("asks DNS once while the answer lives", async (test) => {
    const { sender, dns, url } = await lineFor(test, () => ({ ...leadsTo("127.0.0.1"), ttlSeconds: 60 }));
    for (let count = 0; count < 3; count++) equal(brief(await post(sender, url)), "200");
    equal(dns.questionCount("hook.dev", "A"), 1);
  });

  for (const kind of ["nxdomain", "servfail", "silent", "nodata", "garbage"] as const) {
    it(`fails as dns where the server answers ${kind}`, async (test) => {
      const guard = { resolverLimits: { ...QUICK, ...UNCACHED } };
      const { sender, url } = await lineFor(test, () => ({ kind }), { guard });
      equal(brief(await post(sender, url)), "dns");
    });
  }

  it("tries the next address if one refuses", async (test) => {
    const { sender, url } = await lineFor(test, () =>
      leadsTo("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1"),
    );
    equal(brief(await post(sender, url)), "200");
  });

  it("dials four addresses at most", async (test) => {
    const dead = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];
    const { receiver, sender, url } = await lineFor(test, () => leadsTo(...dead, "127.0.0.1"));
    equal(brief(await post(sender, url)), "connect");
    equal(receiver.connectionCount(), 0);
  });

  it("sends nothing where one of its addresses is not open", async (test) => {
    const { receiver, sender, url } = await lineFor(test, () => leadsTo("127.0.0.1", "10.0.0.1"));
    equal(brief(await post(sender, url)), "unsafe:not_public");
    equal(receiver.connectionCount(), 0);
  });

  it("is refused once the name leads elsewhere, though a connection is open", async (test) => {
    let address = "127.0.0.1";
    const { receiver, sender, url } = await lineFor(test, () => leadsTo(address));
    equal(brief(await post(sender, url)), "200");
    address = "10.0.0.1";
    equal(brief(await post(sender, url)), "unsafe:not_public");
    address = "169.254.169.254";
    equal(brief(await post(sender, url)), "unsafe:metadata_address");
    equal(receiver.requests.length, 1);
  });

  it("is a blocked target where the name leads elsewhere between check and dial", async (test) => {
    const { receiver, sender, url } = await lineFor(test, (_name, _type, index) =>
      leadsTo(index === 0 ? "127.0.0.1" : "10.0.0.1"),
    );
    equal(brief(await post(sender, url)), "blocked_target");
    equal(receiver.connectionCount(), 0);
  });

  it("fails as dns where the name is gone between check and dial", async (test) => {
    const { sender, url } = await lineFor(test, (_name, _type, index) =>
      index === 0 ? leadsTo("127.0.0.1") : { kind: "nxdomain" },
    );
    equal(brief(await post(sender, url)), "dns");
  });

  it("that is unsafe by its text is refused without a question", async (test) => {
    const { sender, dns } = await lineFor(test, () => leadsTo("127.0.0.1"));
    equal(brief(await post(sender, "http://hook.dev/")), "unsafe:not_https");
    equal(brief(await post(sender, "https://127.1/")), "unsafe:ipv4_spelling");
    equal(dns.questionCount("hook.dev", "A"), 0);
  });

  it("has the time of its look-up counted in the limit of the attempt", async (test) => {
    const { receiver, sender, url } = await lineFor(test, onlyIpv4, {
      limits: { attemptTimeoutMs: 50 },
      guard: { resolverLimits: { ...UNCACHED, queryTimeoutMs: 60_000, lookupTimeoutMs: 400 } },
    });
    equal(brief(await post(sender, url)), "timeout");
    equal(receiver.requests.length, 0);
  });
});
