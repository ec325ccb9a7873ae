import { equal, rejects } from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { isForgotten } from "../../test/support/forgotten.ts";
import { brief, senderFor } from "../../test/support/sender.ts";
import { startRawReceiver, type TlsReceiver } from "../../test/support/tls-receiver.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/** Answers each request, but hangs up on a second one of its first connection. */
async function receiverFor(test: TestContext): Promise<Pick<TlsReceiver, "url" | "caPem" | "close">> {
  const receiver = await startRawReceiver((socket, index) => {
    let count = 0;
    socket.on("data", () => {
      if (index === 0 && count++ === 1) socket.destroy();
      else socket.write(OK);
    });
  });
  test.after(() => receiver.close());
  return receiver;
}

describe("a request that has its outcome is kept nowhere", () => {
  it("after an answer, and after a repeat on another connection", async (test) => {
    const { url, caPem } = await receiverFor(test);
    const sender = senderFor(test, caPem);
    for (const connections of [1, 2, 2]) {
      const isGone = await isForgotten(async (headers) => {
        equal(brief(await sender.send({ url, headers, body: "{}" })), "200");
      });
      equal(sender.stats().connectionsOpened, connections);
      equal(isGone, true);
    }
  });

  it("after a failure, though nothing follows", async (test) => {
    const receiver = await receiverFor(test);
    await receiver.close();
    const sender = senderFor(test, receiver.caPem);
    const isGone = await isForgotten(async (headers) => {
      equal(brief(await sender.send({ url: receiver.url, headers, body: "{}" })), "connect");
    });
    equal(isGone, true);
  });

  it("after a time limit, while it waited for a connection too", async (test) => {
    const receiver = await startRawReceiver(() => undefined);
    test.after(() => receiver.close());
    const sender = senderFor(test, receiver.caPem, {
      limits: { attemptTimeoutMs: 200, maxConnectionsPerOrigin: 1 },
    });
    const send = (headers: Record<string, string>) => sender.send({ url: receiver.url, headers, body: "{}" });
    const first = send({});
    const isGone = await isForgotten(async (headers) => equal(brief(await send(headers)), "timeout"));
    equal(brief(await first), "timeout");
    equal(isGone, true);
  });

  it("after a fault of this program", async (test) => {
    const { url, caPem } = await receiverFor(test);
    const sender = senderFor(test, caPem);
    const isGone = await isForgotten((headers) =>
      rejects(sender.send({ url, headers: Object.assign(headers, { a: "\n" }), body: "{}" })),
    );
    equal(isGone, true);
  });
});
