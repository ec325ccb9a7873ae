import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import { faultOfStored, faultsOfSource, faultsOfTarget } from "./move-faults.ts";

const READY = {
  version: 18,
  walLevel: "logical",
  maxSlots: 10,
  freeSlots: 10,
  maxSenders: 10,
  freeSenders: 10,
  user: "admin",
  database: "postern",
  mayReplicate: true,
  mayPublish: true,
  statementTimeout: null,
  maySubscribe: true,
};

describe("what keeps a tenant from being moved", () => {
  it("is nothing where servers and users are prepared", () => {
    assert.deepEqual([...faultsOfSource("eu1", READY), ...faultsOfTarget("eu2", READY)], []);
  });

  it("is told with the statement that helps", () => {
    assert.match(faultsOfSource("eu1", { ...READY, walLevel: "replica" }).join(), /SET wal_level = logical/);
    const full = faultsOfSource("eu1", { ...READY, freeSlots: 2 }).join();
    assert.match(full, /SET max_replication_slots = 11; and restart/);
    assert.ok(!full.includes("max_wal_senders"));
    const busy = faultsOfSource("eu1", { ...READY, maxSenders: 8, freeSenders: 1 }).join();
    assert.match(busy, /has 10 free replication slots and 1 free senders, and moving a tenant needs 3\./);
    assert.match(busy, /run ALTER SYSTEM SET max_wal_senders = 10; and restart/);
    assert.deepEqual(faultsOfSource("eu1", { ...READY, freeSlots: 3, freeSenders: 3 }), []);
    assert.match(
      faultsOfSource("eu1", { ...READY, mayPublish: false }).join(),
      /GRANT postern_owner TO admin; .* GRANT CREATE ON DATABASE postern TO admin;/,
    );
    for (const version of [16, 18])
      assert.match(
        faultsOfTarget("eu2", { ...READY, version, maySubscribe: false }).join(),
        /GRANT pg_create_subscription TO admin; ALTER ROLE admin BYPASSRLS; GRANT CREATE ON DATABASE postern TO admin;/,
      );
    assert.match(
      faultsOfSource("eu1", { ...READY, mayReplicate: false }).join(),
      /ALTER ROLE admin REPLICATION;/,
    );
  });

  it("is told with the command that erases what it has stored", () => {
    assert.equal(
      faultOfStored("eu1", tenant("acme"), ["stored artifacts", "bodies to store"]),
      "acme has stored artifacts and bodies to store in eu1, which cannot be moved.\n" +
        "If it keeps bodies, turn that off first (PUT /api/storage/settings), or new ones come. Wait until exports have ended and artifacts have expired, or end their holds and run `postern storage erase --tenant acme --all` with the URL of eu1 as DATABASE_URL and without SHARDS. Within the hour its workers note that the files are gone.",
    );
  });

  it("names a superuser alone on PostgreSQL 15, where no other may subscribe", () => {
    const told = faultsOfTarget("eu2", { ...READY, version: 15, maySubscribe: false }).join();
    assert.match(told, /superuser/);
    assert.ok(!told.includes("pg_create_subscription"));
  });
});
