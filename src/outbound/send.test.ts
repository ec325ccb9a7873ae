import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { startReceiver, type TlsReceiver } from "../../test/support/tls-receiver.ts";
import { makeAddressPolicy } from "./address-rules.ts";
import { makeGuard, type GuardOptions } from "./guard.ts";
import { makeSender, type Sender, type SenderLimits } from "./send.ts";

type Setup = { guard?: Partial<GuardOptions>; limits?: Partial<SenderLimits>; allowed?: readonly string[] };

function senderFor(test: TestContext, receiver: { caPem: string }, setup: Setup = {}): Sender {
  const guard = makeGuard({
    addressPolicy: makeAddressPolicy({ allowedCidrs: setup.allowed ?? ["127.0.0.0/8"], deniedCidrs: [] }),
    privateTargetsAllowed: true,
    blockedPorts: new Set(),
    ...setup.guard,
  });
  const sender = makeSender({
    guard,
    extraCaPems: receiver.caPem === "" ? [] : [receiver.caPem],
    ...(setup.limits === undefined ? {} : { limits: setup.limits }),
  });
  test.after(() => sender.close());
  return sender;
}

function post(sender: Sender, url: string, body = "{}") {
  return sender.send({ url, headers: { "Content-Type": "application/json" }, body });
}

async function receiverFor(test: TestContext, options = {}): Promise<TlsReceiver> {
  const receiver = await startReceiver(options);
  test.after(() => receiver.close());
  return receiver;
}

describe("sending to a receiver that answers", () => {
  it("records status, headers and body, and sends the exact bytes", async (test) => {
    const receiver = await receiverFor(test, {
      respond: () => ({
        status: 202,
        headers: { "X-Answer": "yes", "Set-Cookie": ["a=1", "b=2"] },
        body: "thanks",
      }),
    });
    const outcome = await post(senderFor(test, receiver), `${receiver.url}?q=1#part`, '{"a":"ä"}');
    equal(outcome.kind, "answered");
    if (outcome.kind !== "answered") return;
    equal(outcome.status, 202);
    equal(outcome.body, "thanks");
    equal(outcome.headers["x-answer"], "yes");
    equal(outcome.headers["set-cookie"], "a=1, b=2");
    ok(Number.isInteger(outcome.latencyMs));
    const [request] = receiver.requests;
    equal(request?.method, "POST");
    equal(request?.path, "/hook?q=1");
    equal(request?.body.toString(), '{"a":"ä"}');
    equal(request?.serverName, undefined);
  });

  it("uses one connection for requests after one another", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver);
    for (let count = 0; count < 5; count++) equal((await post(sender, receiver.url)).kind, "answered");
    equal(receiver.connectionCount(), 1);
    deepEqual(sender.stats(), { openConnections: 1, connectionsOpened: 1, inFlight: 0 });
  });
});
