import assert from "node:assert/strict";
import { it } from "node:test";
import { durabilityTrouble } from "./durability.ts";
import type { Replication, Standby } from "./replication-store.ts";

const standby: Standby = { name: "b", syncState: "quorum", isStreaming: true, lagBytes: 0, lagSeconds: null };
const safe: Replication = { standbyNames: "ANY 1 (b, c)", synchronousCommit: "on", standbys: [standby] };

const troubleOf = (replication: Partial<Replication>) => durabilityTrouble({ ...safe, ...replication });

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
  for (const standbyNames of ["", " "]) {
    assert.deepEqual(troubleOf({ standbyNames }), {
      detail: "the database has no synchronous standby: synchronous_standby_names is empty",
      fix: "name the standbys on the primary, as in synchronous_standby_names = 'ANY 1 (standby_a, standby_b)'",
    });
  }
  for (const synchronousCommit of ["remote_write", "local", "off"]) {
    assert.deepEqual(troubleOf({ synchronousCommit }), {
      detail: `the database's commits don't wait for a standby's disk: synchronous_commit is ${synchronousCommit}`,
      fix: "set synchronous_commit = on for the server, and for the user and the database of DATABASE_URL",
    });
  }
  assert.deepEqual(troubleOf({ standbys: null }), {
    detail: "whether a synchronous standby follows the database is unknown: pg_stat_replication is hidden",
    fix: "let an administrator run: GRANT pg_read_all_stats TO postern_worker;",
  });
  for (const standbys of [
    [],
    [{ ...standby, syncState: "potential" }],
    [{ ...standby, isStreaming: false }],
  ]) {
    assert.deepEqual(troubleOf({ standbys }), {
      detail: "no synchronous standby follows the database, so commits wait for one",
      fix: "start one that synchronous_standby_names names, or name another",
    });
  }
});
