import assert from "node:assert/strict";
import { it } from "node:test";
import { durabilityTrouble } from "./durability.ts";
import type { Replication, Standby } from "./replication-store.ts";

const standby: Standby = { name: "b", syncState: "quorum", isStreaming: true, lagBytes: 0, lagSeconds: null };
const safe: Replication = { standbyNames: "ANY 1 (b, c)", synchronousCommit: "on", standbys: [standby] };

const detailOf = (replication: Partial<Replication>) =>
  durabilityTrouble({ ...safe, ...replication })?.detail ?? "";

it("finds nothing to fix if each commit is on a standby's disk", () => {
  assert.equal(durabilityTrouble(safe), null);
  assert.equal(durabilityTrouble({ ...safe, synchronousCommit: "remote_apply" }), null);
  const others = [
    { ...standby, syncState: "async" },
    { ...standby, syncState: "sync" },
  ];
  assert.equal(durabilityTrouble({ ...safe, standbys: others }), null);
});

it("says what is missing, and what to do", () => {
  assert.match(detailOf({ standbyNames: " " }), /synchronous_standby_names is empty/);
  for (const synchronousCommit of ["remote_write", "local", "off"]) {
    assert.match(detailOf({ synchronousCommit }), new RegExp(`synchronous_commit is ${synchronousCommit}$`));
  }
  assert.match(detailOf({ standbys: null }), /pg_stat_replication is hidden/);
  for (const standbys of [
    [],
    [{ ...standby, syncState: "potential" }],
    [{ ...standby, isStreaming: false }],
  ]) {
    assert.match(detailOf({ standbys }), /^no synchronous standby follows/);
  }
});
