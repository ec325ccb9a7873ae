import assert from "node:assert/strict";
import { type Duplex, PassThrough } from "node:stream";
import { it } from "node:test";
import { Client } from "pg";
import { cutOff, isCutOff } from "./cut-off.ts";

it("a client's connection is closed at once, with the reason, and known to be", () => {
  const client = new Client();
  const { stream } = client.connection;
  assert.equal(isCutOff(client), false);
  const reason = new Error("given up");
  let told: unknown = null;
  stream.on("error", (error) => (told = error));
  cutOff(client, reason);
  assert.deepEqual([isCutOff(client), stream.destroyed, stream.errored], [true, true, reason]);
  assert.equal(told, null, "it is told later, as the network would");
});

it("what has no connection that can be closed is left alone", () => {
  const other = { destroy: () => assert.fail("it is no stream"), destroyed: true };
  const stream: Duplex = new PassThrough();
  for (const client of [
    {},
    { connection: null },
    { connection: undefined },
    { connection: "text" },
    { connection: {} },
    { connection: { stream: null } },
    { connection: { stream: other } },
  ]) {
    cutOff(client, new Error("given up"));
    assert.equal(isCutOff(client), false);
  }
  assert.equal(isCutOff({ connection: { stream } }), false);
});
