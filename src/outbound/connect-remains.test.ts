/** What a dial leaves behind, whatever comes of it: no connection but the one that it answers, and no timer. */
import { equal, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { makeTestCa } from "../../test/support/certificates.ts";
import { eventually } from "../../test/support/eventually.ts";
import { listen, startReceiver } from "../../test/support/tls-receiver.ts";
import { makeDial } from "./connect.ts";

const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

/** Above what anything else in this process waits for. */
const PATIENT_MS = 30_000;

function dialTo(port: number, connectTimeoutMs: number, pinned = () => undefined as void, caPem?: string) {
  const pin = async () => {
    pinned();
    return { kind: "pinned" as const, addresses: ["127.0.0.1"] };
  };
  const extraCaPems = caPem === undefined ? [] : [caPem];
  return makeDial({ guard: { pin }, connectTimeoutMs, extraCaPems })({ host: "127.0.0.1", port });
}

/** Takes connections, and says nothing. */
async function silentServer(test: TestContext) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on("error", () => undefined).resume());
    socket.once("close", () => open.delete(socket));
  });
  const port = await listen(server);
  test.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { server, port, open };
}

describe("a dial leaves no timer behind", () => {
  it("that comes about", async (test) => {
    const ca = await makeTestCa();
    const receiver = await startReceiver({ certificate: await ca.issue() });
    test.after(() => receiver.close());
    const { port } = new URL(receiver.url);
    const before = countTimers();
    const socket = await dialTo(Number(port), PATIENT_MS, undefined, ca.caPem);
    ok(countTimers() <= before);
    socket.destroy();
  });

  it("that is refused", async (test) => {
    const { server, port } = await silentServer(test);
    await new Promise((resolve) => server.close(resolve));
    const before = countTimers();
    await rejects(dialTo(port, PATIENT_MS), { reason: "connect" });
    ok(countTimers() <= before);
  });

  it("whose receiver speaks no TLS", async (test) => {
    const { server, port } = await silentServer(test);
    server.on(
      "connection",
      (socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 No\r\n\r\n")),
    );
    const before = countTimers();
    await rejects(dialTo(port, PATIENT_MS), { reason: "tls" });
    ok(countTimers() <= before);
  });
});

describe("a dial that takes too long leaves no connection behind", () => {
  it("where the receiver is silent within TLS", async (test) => {
    const { port, open } = await silentServer(test);
    await rejects(dialTo(port, 100), { reason: "timeout" });
    await eventually(async () => open.size === 0);
  });

  it("where it is silent before", async (test) => {
    const { port, open } = await silentServer(test);
    test.mock.timers.enable({ apis: ["setTimeout"] });
    // Behind what is begun without I/O, and before any I/O.
    const over = () => process.nextTick(() => process.nextTick(() => test.mock.timers.tick(PATIENT_MS)));
    await rejects(dialTo(port, PATIENT_MS, over), { reason: "timeout" });
    test.mock.timers.reset();
    // Connections are taken in their order: behind this one, that of the dial has been.
    const last = connect(port, "127.0.0.1");
    test.after(() => last.destroy());
    await once(last, "connect");
    await eventually(async () => [...open].some(({ remotePort }) => remotePort === last.localPort));
    await eventually(async () => open.size === 1);
    equal(last.destroyed, false);
  });
});
