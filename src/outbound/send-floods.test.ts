/** What a hostile receiver may cost: bytes, memory and connections are bounded, and the neighbours are served. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { SendOutcome } from "./send.ts";
import { BEHAVIOURS, startHostileReceiver } from "../../test/support/hostile-receivers.ts";
import { brief, post, senderFor } from "../../test/support/sender.ts";
import { eventually } from "../../test/support/eventually.ts";
import { listen, startRawReceiver, startReceiver } from "../../test/support/tls-receiver.ts";
import { makeTestCa } from "../../test/support/certificates.ts";

const MIB = 1024 * 1024;
/** What ends by itself must not run out of time, however busy the machine is. */
const PATIENT = { attemptTimeoutMs: 60_000, connectTimeoutMs: 60_000 };
const limitsFor = (ending: unknown) => (ending === "timeout" ? { attemptTimeoutMs: 300 } : PATIENT);
// What the kernel's buffers take beyond what is read, on both sides of a connection.
const BUFFERED_BYTES = 16 * MIB;

describe("each way of misbehaving", () => {
  for (const [name, { ending }] of Object.entries(BEHAVIOURS)) {
    it(`ends as ${ending}, again over what is left of the connection, and costs little: ${name}`, async (test) => {
      let written = 0;
      const hostile = await startHostileReceiver({}, (socket) => {
        socket.on("close", () => (written += socket.bytesWritten));
      });
      test.after(() => hostile.close());
      const sender = senderFor(test, hostile.caPem, { limits: limitsFor(ending) });
      const url = hostile.url.replace("/hook", `/${name}`);
      equal(brief(await post(sender, url)), String(ending));
      equal(brief(await post(sender, url)), String(ending));
      equal(sender.stats().inFlight, 0);
      await hostile.close();
      ok(written < BUFFERED_BYTES, `${written} bytes were taken`);
    });
  }

  it("all at once leaves a neighbour's requests as they are, and no memory behind", async (test) => {
    const ca = await makeTestCa();
    const hostile = await startHostileReceiver({ certificate: await ca.issue() });
    const neighbour = await startReceiver({ certificate: await ca.issue() });
    test.after(() => neighbour.close());
    const sender = senderFor(test, ca.caPem, { limits: PATIENT });
    const [timed, others] = [[], []] as [string[], string[]];
    for (const [name, { ending }] of Object.entries(BEHAVIOURS)) {
      (ending === "timeout" ? timed : others).push(name, name, name);
    }
    const before = process.memoryUsage.rss();
    const meet = (name: string) => post(sender, hostile.url.replace("/hook", `/${name}`));
    const [endless, ending] = [timed.map(meet), others.map(meet)];
    const healthy = await Promise.all(Array.from({ length: 100 }, () => post(sender, neighbour.url)));
    deepEqual(new Set(healthy.map(brief)), new Set(["200"]));
    deepEqual(
      (await Promise.all(ending)).map(brief),
      others.map((name) => String(BEHAVIOURS[name]?.ending)),
    );
    equal(sender.stats().inFlight, timed.length);
    await hostile.close();
    await Promise.all(endless);
    const grownMib = (process.memoryUsage.rss() - before) / MIB;
    ok(grownMib < 300, `${grownMib} MiB more, of floods that offered terabytes`);
  });
});

describe("a thousand connections to a receiver that never answers", () => {
  it("leave a neighbour served, and none open when they have ended", async (test) => {
    const ca = await makeTestCa();
    const silent = await startRawReceiver(() => {}, { certificate: await ca.issue() });
    const neighbour = await startReceiver({ certificate: await ca.issue() });
    test.after(() => neighbour.close());
    const sender = senderFor(test, ca.caPem, { limits: PATIENT });
    const hanging: Promise<SendOutcome>[] = [];
    while (hanging.length < 1_000) {
      // No more at once than the kernel lets wait for a server's accepting.
      hanging.push(...Array.from({ length: 100 }, () => post(sender, silent.url)));
      equal(brief(await post(sender, neighbour.url)), "200");
      await eventually(async () => silent.connectionCount() === hanging.length);
    }
    equal(sender.stats().inFlight, 1_000);
    await silent.close();
    deepEqual(new Set((await Promise.all(hanging)).map(brief)), new Set(["reset"]));
    equal(brief(await post(sender, neighbour.url)), "200");
    // The neighbour's at most, which may be kept, or closing.
    await eventually(async () => sender.stats().openConnections <= 1);
  });
});

describe("a connection that a receiver would keep for ever", () => {
  it("ends by the sender's own limit", async (test) => {
    const receiver = await startRawReceiver((socket) => {
      const keep = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=999999999\r\nContent-Length: 0\r\n\r\n";
      socket.on("data", () => socket.write(keep));
      socket.on("end", () => ended.resolve());
    });
    const ended = Promise.withResolvers<void>();
    test.after(() => receiver.close());
    const sender = senderFor(test, receiver.caPem, {
      limits: { keepAliveTimeoutMs: 50, keepAliveMaxTimeoutMs: 100 },
    });
    equal(brief(await post(sender, receiver.url)), "200");
    await ended.promise;
  });
});

describe("a handshake that stops half-way", () => {
  for (const bytes of [1, 5, 100, 600]) {
    it(`is a timeout after ${bytes} of the receiver's bytes`, async (test) => {
      const port = await halfWay(test, bytes, () => {});
      const sender = senderFor(test, "", { limits: { connectTimeoutMs: 150 } });
      equal(brief(await post(sender, `https://127.0.0.1:${port}/`)), "timeout");
      equal(sender.stats().openConnections, 0);
    });

    it(`is a TLS error where the receiver hangs up after ${bytes} of its bytes`, async (test) => {
      const port = await halfWay(test, bytes, (client) => client.destroy());
      equal(brief(await post(senderFor(test, ""), `https://127.0.0.1:${port}/`)), "tls");
    });
  }

  it("is a TLS error if the receiver continues with noise", async (test) => {
    const port = await halfWay(test, 100, (client) => client.end(Buffer.alloc(70_000, 0x5a)));
    equal(brief(await post(senderFor(test, ""), `https://127.0.0.1:${port}/`)), "tls");
  });
});

/** A port that passes on a real TLS receiver's first bytes and then does something else. */
async function halfWay(test: TestContext, bytes: number, then: (client: Socket) => void): Promise<number> {
  const real = await startReceiver();
  const server = createServer((client) => {
    const upstream = connect(real.port, "127.0.0.1");
    client.on("error", () => {});
    upstream.on("error", () => {});
    client.pipe(upstream);
    test.after(() => client.destroy());
    upstream.once("data", (data: Buffer) => {
      upstream.destroy();
      client.write(data.subarray(0, bytes), () => then(client));
    });
  });
  test.after(async () => {
    server.close();
    await real.close();
  });
  return listen(server);
}
