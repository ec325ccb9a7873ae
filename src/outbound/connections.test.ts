import assert from "node:assert/strict";
import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import { it } from "node:test";
import { isForgotten } from "../../test/support/forgotten.ts";
import { startRawReceiver } from "../../test/support/tls-receiver.ts";
import { makeDial } from "./connect.ts";
import { makeConnections } from "./connections.ts";
import { SENDER_LIMITS } from "./send.ts";

const pin = async () => ({ kind: "pinned" as const, addresses: ["127.0.0.1"] });

it("an idle connection that its receiver closes is kept nowhere, and the next request opens another", async (test) => {
  let last: Pick<TLSSocket, "end"> | null = null;
  const receiver = await startRawReceiver((socket) => {
    last = socket;
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  });
  test.after(() => receiver.close());
  const dial = makeDial({ ...SENDER_LIMITS, guard: { pin }, extraCaPems: [receiver.caPem] });
  const counters = { open: 0, opened: 0 };
  const connections = makeConnections({ ...SENDER_LIMITS, dial, counters });
  test.after(() => connections.destroy());
  const use = async (mark: object): Promise<void> => {
    const connection = Object.assign(connections.take(new URL(receiver.url).origin), { mark });
    const { body } = await connection.request({ path: "/", method: "POST" });
    await body.dump();
    connections.giveBack(connection);
    const gone = once(connection, "disconnect");
    last?.end();
    await gone;
  };
  for (const opened of [1, 2]) {
    assert.equal(await isForgotten(use), true);
    assert.equal(counters.opened, opened);
  }
});
