import assert from "node:assert/strict";
import { it } from "node:test";
import { DialError, type DialTarget } from "./connect.ts";
import { Connection } from "./connection.ts";
import { SENDER_LIMITS } from "./send.ts";

it("a connection is opened to its URL's host and port, which is 443 where none is given", async () => {
  const dialed: DialTarget[] = [];
  const dial = async (target: DialTarget): Promise<never> => {
    dialed.push(target);
    throw new DialError("connect", "nobody is there");
  };
  for (const origin of ["https://shop.dev", "https://shop.dev:8443", "https://[2001:db8::1]"]) {
    const connection = new Connection(origin, { ...SENDER_LIMITS, dial, counters: { open: 0, opened: 0 } });
    await assert.rejects(connection.request({ path: "/", method: "POST" }), { message: "nobody is there" });
    await connection.close();
  }
  assert.deepEqual(dialed, [
    { host: "shop.dev", port: 443 },
    { host: "shop.dev", port: 8443 },
    { host: "2001:db8::1", port: 443 },
  ]);
});
