/** Connections that must not come about, each with its code. */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer as createTcpServer, type Server } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { issueExpired, makeSelfSigned, makeTestCa } from "../../test/support/certificates.ts";
import { brief, post, senderFor } from "../../test/support/sender.ts";
import { listen, startReceiver, type ReceiverOptions } from "../../test/support/tls-receiver.ts";
import { DialError, makeDial } from "./connect.ts";

async function withCertificate(test: TestContext, options: ReceiverOptions, caPem: string): Promise<string> {
  const receiver = await startReceiver(options);
  test.after(() => receiver.close());
  const outcome = await post(senderFor(test, caPem), receiver.url);
  equal(receiver.requests.length, 0);
  return brief(outcome);
}

describe("a receiver without a good certificate", () => {
  it("self-signed is refused", async (test) => {
    equal(await withCertificate(test, { certificate: await makeSelfSigned() }, ""), "tls");
  });

  it("expired is refused", async (test) => {
    const ca = await makeTestCa();
    equal(await withCertificate(test, { certificate: await issueExpired(ca) }, ca.caPem), "tls");
  });

  it("for another name is refused", async (test) => {
    const ca = await makeTestCa();
    const certificate = await ca.issue({ names: ["localhost"], ips: ["127.0.0.2"] });
    equal(await withCertificate(test, { certificate }, ca.caPem), "tls");
  });

  it("of an untrusted authority is refused", async (test) => {
    const [mine, theirs] = [await makeTestCa(), await makeTestCa()];
    equal(await withCertificate(test, { certificate: await theirs.issue() }, mine.caPem), "tls");
  });

  it("that speaks TLS 1.1 is refused", async (test) => {
    const ca = await makeTestCa();
    const options: ReceiverOptions = { certificate: await ca.issue(), maxTlsVersion: "TLSv1.1" };
    equal(await withCertificate(test, options, ca.caPem), "tls");
  });

  it("that wants a certificate of ours is refused", async (test) => {
    const ca = await makeTestCa();
    const options: ReceiverOptions = { certificate: await ca.issue(), wantsClientCertificate: true };
    equal(await withCertificate(test, options, ca.caPem), "tls");
  });
});

describe("a host without a receiver", () => {
  it("that refuses connections is a connect error", async (test) => {
    const server = createTcpServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    equal(brief(await post(senderFor(test, ""), `https://127.0.0.1:${port}/`)), "connect");
  });

  it("that speaks plain HTTP is a TLS error", async (test) => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    });
    const port = await listen(server);
    test.after(() => server.close());
    equal(brief(await post(senderFor(test, ""), `https://127.0.0.1:${port}/`)), "tls");
  });

  it("that never shakes hands is a timeout", async (test) => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      test.after(() => socket.destroy());
    });
    const port = await listen(server);
    test.after(() => server.close());
    const sender = senderFor(test, "", { limits: { connectTimeoutMs: 100 } });
    const outcome = await post(sender, `https://127.0.0.1:${port}/`);
    equal(brief(outcome), "timeout");
    ok(sender.stats().openConnections === 0);
  });
});

describe("a connection", () => {
  it("has the time that its sender was given, which may be none", async (test) => {
    const ca = await makeTestCa();
    const receiver = await startReceiver({ certificate: await ca.issue() });
    test.after(() => receiver.close());
    const sender = (connectTimeoutMs: number) => senderFor(test, ca.caPem, { limits: { connectTimeoutMs } });
    equal(brief(await post(sender(0), receiver.url)), "connect");
    equal(brief(await post(sender(5000), receiver.url)), "200");
  });
});

async function listenAt(test: TestContext, host: string | undefined, server: Server): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  test.after(() => server.close());
  const address = server.address();
  ok(typeof address === "object" && address !== null);
  return address.port;
}

/** Nothing listens at the addresses before the last. Answers why no connection came about, and how often the last was reached. */
async function dialled(test: TestContext, addresses: readonly string[]): Promise<[string, number]> {
  let reached = 0;
  const server = createTcpServer((socket) => {
    reached++;
    socket.destroy();
  });
  const port = await listenAt(test, addresses.at(-1), server);
  const guard = { pin: async () => ({ kind: "pinned" as const, addresses }) };
  const dial = makeDial({ guard, connectTimeoutMs: 5000 });
  const failure = await dial({ host: "several.example", port }).catch((error: unknown) => error);
  ok(failure instanceof DialError);
  return [failure.reason, reached];
}

const LOOPBACK = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"];

/** A clock that the test owns. `pass` goes on behind what is begun without I/O, and before any I/O. */
function ownClock(test: TestContext) {
  let nowMs = 1000;
  test.mock.method(performance, "now", () => nowMs);
  test.mock.timers.enable({ apis: ["setTimeout"] });
  return {
    skip(ms: number): void {
      nowMs += ms;
    },
    async pass(ms: number): Promise<void> {
      await new Promise<void>((resolve) => process.nextTick(resolve));
      nowMs += ms;
      test.mock.timers.tick(ms);
    },
  };
}

it("TLS has what is left of a connection's time behind TCP", { timeout: 10_000 }, async (test) => {
  const greeted = Promise.withResolvers<void>();
  const server = createTcpServer((socket) => {
    socket.on("error", () => {}).once("data", () => greeted.resolve());
    test.after(() => socket.destroy());
  });
  const port = await listenAt(test, "127.0.0.1", server);
  const clock = ownClock(test);
  const pin = async () => {
    void clock.pass(4000);
    return { kind: "pinned" as const, addresses: ["127.0.0.1"] };
  };
  const dialling = makeDial({ guard: { pin }, connectTimeoutMs: 6000 })({ host: "silent.example", port });
  const refused = rejects(dialling, { reason: "timeout" });
  await greeted.promise;
  await clock.pass(2000);
  await refused;
});

describe("a host of several addresses", () => {
  const skip = process.platform === "linux" ? false : "needs more addresses of loopback than one";
  it("is tried at four of them", { skip }, async (test) => {
    deepEqual(await dialled(test, LOOPBACK.slice(0, 4)), ["tls", 1]);
    deepEqual(await dialled(test, LOOPBACK), ["connect", 0]);
  });

  it("leaves the last its time where those before it are silent", { skip, timeout: 10_000 }, async (test) => {
    const reached = new Set<string | undefined>();
    const server = createTcpServer((socket) => {
      reached.add(socket.localAddress);
      socket.destroy();
    });
    const port = await listenAt(test, "0.0.0.0", server);
    const clock = ownClock(test);
    const addresses = LOOPBACK.slice(0, 3);
    const pin = async () => {
      // However long its name takes: the limit is that of the connection.
      clock.skip(60_000);
      void clock.pass(2000).then(() => clock.pass(2000));
      return { kind: "pinned" as const, addresses };
    };
    const dial = makeDial({ guard: { pin }, connectTimeoutMs: 6000 });
    await rejects(dial({ host: "several.example", port }), { reason: "tls" });
    ok(reached.has(addresses.at(-1)));
  });

  it("gives the last all the time that is left", { skip, timeout: 10_000 }, async (test) => {
    const server = createTcpServer((socket) => void socket.destroy());
    const port = await listenAt(test, "127.0.0.3", server);
    const clock = ownClock(test);
    const pin = async () => {
      void clock.pass(3000).then(() => clock.pass(2999));
      return { kind: "pinned" as const, addresses: ["127.0.0.2", "127.0.0.3"] };
    };
    const dial = makeDial({ guard: { pin }, connectTimeoutMs: 6000 });
    await rejects(dial({ host: "several.example", port }), { reason: "tls" });
  });
});
