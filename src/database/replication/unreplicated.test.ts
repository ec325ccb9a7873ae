import assert from "node:assert/strict";
import { it } from "node:test";
import { Client } from "pg";
import { isCutOff } from "../cut-off.ts";
import { isConnectionLoss } from "../passing-errors.ts";
import { refuseUnreplicated } from "./unreplicated.ts";

it("a commit that no standby has confirmed fails its statement and ends its connection, and no other warning does", () => {
  const client = new Client();
  const told: unknown[] = [];
  client.connection.on("error", (error) => told.push(error));
  client.connection.stream.on("error", () => undefined);
  refuseUnreplicated(client);
  client.emit("notice", { routine: "PreventInTransactionBlock" });
  client.emit("notice", {});
  assert.deepEqual([told, isCutOff(client)], [[], false]);
  client.emit("notice", { routine: "SyncRepWaitForLSN" });
  const [reason, ...others] = told;
  assert.ok(reason instanceof Error && isConnectionLoss(reason));
  assert.equal(reason.message, "no standby has confirmed the commit");
  assert.deepEqual([others, isCutOff(client), client.connection.stream.errored], [[], true, reason]);
});

it("a client that keeps its connection elsewhere takes the warning", () => {
  for (const connection of [undefined, null, {}]) {
    const client = new Client();
    if (connection === undefined) Reflect.deleteProperty(client, "connection");
    else Object.assign(client, { connection });
    refuseUnreplicated(client);
    client.emit("notice", { routine: "SyncRepWaitForLSN" });
  }
});
