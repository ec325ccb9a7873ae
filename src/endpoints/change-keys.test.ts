import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { first } from "../../test/support/webhooks.ts";
import { makeSecretBox, type SecretBox } from "../shared/secret-box.ts";
import { changeKeys, forgetKey, readKeyUse } from "./change-keys.ts";
import { insertEndpoint } from "./endpoint-store.ts";
import { listSealedOtherwise, replaceSealed } from "./reseal-store.ts";
import { readSendTarget } from "./send-target.ts";
import { sealSigningSecret } from "./signing-secret.ts";
import { changeHeaders, NO_HEADERS } from "./static-headers.ts";
import type { EndpointKey } from "../shared/id.ts";

const SECRET = "a-secret-of-the-tenants-own";
const tenantId = tenant("acme");
const [newKey, oldKey, lostKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const ring = makeSecretBox([newKey, oldKey]);
const newBox = makeSecretBox([newKey]);
const oldBox = makeSecretBox([oldKey]);
const lostBox = makeSecretBox([lostKey]);
const idOf = (box: SecretBox) => box.keyIds[0];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() => database.pool.query("DELETE FROM postern.endpoints; DELETE FROM postern.audit_log"));
after(() => database.drop());

/** An endpoint with all three kinds of sealed values, under one key. */
async function create(box: SecretBox): Promise<EndpointKey> {
  const endpoint = newEndpoint({ tenantId });
  const key = { tenantId, endpointId: endpoint.id };
  const stored = changeHeaders(box, key, NO_HEADERS, { headers: { Authorization: "Bearer 1" } });
  await insertEndpoint(database.pool, { ...endpoint, secret: sealSigningSecret(box, SECRET, key), stored });
  await database.pool.query(
    `UPDATE postern.endpoints SET previous_secret = $2, previous_secret_until = now() + interval '1 hour' WHERE id = $1`,
    [endpoint.id, sealSigningSecret(box, `former-${SECRET}`, key)],
  );
  return key;
}

async function secretsUnder(box: SecretBox, key: EndpointKey) {
  const target = await readSendTarget(database.pool, box, key);
  return [...(target?.signingKeys.map(({ whole }) => whole.export().toString()) ?? []), target?.headers];
}
const ALL = [SECRET, `former-${SECRET}`, { Authorization: "Bearer 1" }];

async function audited(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    `SELECT tenant_id, actor_type, actor_sub, action, endpoint_id, outcome, details, request_id, address
      FROM postern.audit_log ORDER BY id`,
  );
  return rows;
}

const byOperator = (action: string, details: unknown) => ({
  tenant_id: null,
  actor_type: "operator",
  actor_sub: null,
  action,
  endpoint_id: null,
  outcome: "done",
  details,
  request_id: null,
  address: null,
});

it("the use of keys is told in the ring's order, and then of missing ones", async () => {
  for (const box of [oldBox, oldBox, lostBox]) await create(box);
  assert.deepEqual(await readKeyUse(database.pool, ring), [
    { keyId: idOf(newBox), place: "first", secrets: 0 },
    { keyId: idOf(oldBox), place: "former", secrets: 6 },
    { keyId: idOf(lostBox), place: "missing", secrets: 3 },
  ]);
  // Nothing needs the key of a former secret whose grace period is over, nor of a deleted endpoint.
  await database.pool.query(
    `UPDATE postern.endpoints SET previous_secret_until = now();
      UPDATE postern.endpoints SET deleted_at = now()
      WHERE id = (SELECT id FROM postern.endpoints ORDER BY id DESC LIMIT 1)`,
  );
  assert.deepEqual(await readKeyUse(database.pool, ring), [
    { keyId: idOf(newBox), place: "first", secrets: 0 },
    { keyId: idOf(oldBox), place: "former", secrets: 4 },
  ]);
});

it("a value that was changed since it was read is not replaced, whichever it is", async () => {
  await create(oldBox);
  const read = async () =>
    first(await listSealedOtherwise(database.pool, idOf(newBox), { after: null, limit: 1 }));
  const old = await read();
  const next = Buffer.from("next");
  const replace = { old, secret: next, previousSecret: next, sealedHeaders: next };
  for (const column of ["secret", "previous_secret", "sealed_headers"]) {
    const changed = `UPDATE postern.endpoints SET ${column} = `;
    await database.pool.query(`${changed} ${column} || '\\x00'`);
    const now = await read();
    assert.equal(await replaceSealed(database.pool, [replace]), 0, column);
    assert.deepEqual(await read(), now);
    await database.pool.query(`${changed} substring(${column} FROM 1 FOR octet_length(${column}) - 1)`);
  }
  assert.equal(await replaceSealed(database.pool, [replace]), 1);
});

describe("a change of keys", () => {
  it("seals every value under the first key, and the audit log says so before and after", async () => {
    const keys = [await create(oldBox), await create(newBox), await create(oldBox)];
    const progress: number[] = [];
    const change = await changeKeys(database.pool, ring, (endpoints) => progress.push(endpoints));
    const use = [
      { keyId: idOf(newBox), place: "first", secrets: 9 },
      { keyId: idOf(oldBox), place: "former", secrets: 0 },
    ];
    assert.deepEqual([change, progress], [{ endpoints: 2, failures: [], keys: use }, [2]]);
    for (const key of keys) assert.deepEqual(await secretsUnder(newBox, key), ALL);
    assert.deepEqual(await audited(), [
      byOperator("keys.rotation_started", { secrets_by_key: { [idOf(newBox)]: 3, [idOf(oldBox)]: 6 } }),
      byOperator("keys.rotated", {
        endpoints: 2,
        failures: 0,
        secrets_by_key: { [idOf(newBox)]: 9, [idOf(oldBox)]: 0 },
      }),
    ]);
  });

  it("says nothing where nothing is to be changed", async () => {
    await create(newBox);
    const use = [
      { keyId: idOf(newBox), place: "first", secrets: 3 },
      { keyId: idOf(oldBox), place: "former", secrets: 0 },
    ];
    const change = await changeKeys(database.pool, ring, () => assert.fail());
    assert.deepEqual(change, { endpoints: 0, failures: [], keys: use });
    assert.deepEqual(await audited(), []);
  });

  it("names each endpoint whose secret does not open, leaves it, and does the others", async () => {
    const [lost, opened] = [await create(lostBox), await create(oldBox)];
    const { endpoints, failures, keys } = await changeKeys(database.pool, ring, () => undefined);
    assert.deepEqual([endpoints, failures.length, keys.at(-1)?.place], [1, 1, "missing"]);
    assert.match(
      failures[0] ?? "",
      new RegExp(`/acme/${lost.endpointId}: encrypted with key ${idOf(lostBox)}`),
    );
    assert.deepEqual(await secretsUnder(newBox, opened), ALL);
    assert.deepEqual(await secretsUnder(lostBox, lost), ALL);
    assert.deepEqual((await audited()).length, 2);
    // Those that do not open are told again, though no endpoint is changed.
    await changeKeys(database.pool, ring, () => undefined);
    assert.deepEqual((await audited()).length, 4);
  });

  it("stops at a value that opens and is none of Postern's", async () => {
    const { endpointId } = await create(oldBox);
    const sealed = oldBox.seal("no JSON", ["static-headers", tenantId, endpointId]);
    await database.pool.query("UPDATE postern.endpoints SET sealed_headers = $1", [sealed]);
    await assert.rejects(
      changeKeys(database.pool, ring, () => undefined),
      SyntaxError,
    );
  });

  it("goes on behind the first 500 endpoints, and tells how many are done", async () => {
    for (let n = 0; n < 501; n++) {
      const endpoint = newEndpoint({ tenantId });
      const secret = sealSigningSecret(oldBox, SECRET, { tenantId, endpointId: endpoint.id });
      await insertEndpoint(database.pool, { ...endpoint, secret });
    }
    const progress: number[] = [];
    const { endpoints } = await changeKeys(database.pool, ring, (done) => progress.push(done));
    assert.deepEqual([endpoints, progress], [501, [500, 501]]);
  });

  it("comes back for a locked one, and forgets the failure of one that opens meanwhile", async () => {
    const [spoilt, locked] = [await create(lostBox), await create(oldBox)];
    await create(oldBox);
    const client = await database.pool.connect();
    const progress: number[] = [];
    const freed: Promise<unknown>[] = [];
    try {
      await client.query("BEGIN");
      await client.query("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE", [locked.endpointId]);
      const { endpoints, failures } = await changeKeys(database.pool, ring, (done) => {
        progress.push(done);
        if (progress.length > 1) return;
        freed.push(
          client
            .query(
              "UPDATE postern.endpoints SET secret = $2, previous_secret = NULL, previous_secret_until = NULL, sealed_headers = NULL WHERE id = $1",
              [spoilt.endpointId, sealSigningSecret(oldBox, SECRET, spoilt)],
            )
            .then(() => client.query("COMMIT")),
        );
      });
      await Promise.all(freed);
      assert.deepEqual([endpoints, failures], [3, []]);
      // What is done in the second round comes on top of the first.
      assert.deepEqual([progress[0], progress.at(-1)], [1, 3]);
    } finally {
      client.release();
    }
    assert.deepEqual(await secretsUnder(newBox, locked), ALL);
  });
});

/** By somebody whose work takes longer than all rounds without a pause. */
async function whileLocked<T>({ endpointId }: EndpointKey, work: () => Promise<T>): Promise<T> {
  const client = await database.pool.connect();
  await client.query("BEGIN");
  await client.query("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE", [endpointId]);
  const held = client.query("SELECT pg_sleep(1)").then(() => client.query("COMMIT"));
  try {
    return await work();
  } finally {
    await held;
    client.release();
  }
}

describe("an endpoint that is locked for a second", () => {
  it("gets the new key", async () => {
    const locked = await create(oldBox);
    const { endpoints, failures } = await whileLocked(locked, () =>
      changeKeys(database.pool, ring, () => undefined),
    );
    assert.deepEqual([endpoints, failures], [1, []]);
    assert.deepEqual(await secretsUnder(newBox, locked), ALL);
  });

  it("gives up the lost one", async () => {
    const locked = await create(lostBox);
    const told: EndpointKey[] = [];
    const forgetting = () => forgetKey(database.pool, idOf(lostBox), (key) => told.push(key));
    assert.equal(await whileLocked(locked, forgetting), 0);
    assert.deepEqual(told, [locked]);
  });
});

describe("a lost key that is given up", () => {
  /** The value that signed before it, too, if it may be signed with still. */
  const former = `UPDATE postern.endpoints SET previous_secret = $2,
    previous_secret_until = now() + make_interval(secs => $3) WHERE id = $1`;

  it("cuts off the endpoints that need it, and ends former secrets under it without telling of their endpoints", async () => {
    const [needing, other] = [await create(lostBox), await create(newBox)];
    const renewed = [await create(newBox), await create(newBox)];
    for (const [n, key] of renewed.entries()) {
      const sealed = sealSigningSecret(lostBox, `former-${SECRET}`, key);
      await database.pool.query(former, [key.endpointId, sealed, n === 0 ? 60 : -60]);
    }
    const told: EndpointKey[] = [];
    assert.equal(await forgetKey(database.pool, idOf(lostBox), (key) => told.push(key)), 0);
    assert.deepEqual(told, [needing]);
    const [, , headers] = ALL;
    for (const key of renewed) assert.deepEqual(await secretsUnder(newBox, key), [SECRET, headers]);
    assert.deepEqual(await secretsUnder(newBox, other), ALL);
    await assert.rejects(secretsUnder(newBox, needing), { name: "SecretBoxError" });
    assert.deepEqual(await secretsUnder(lostBox, needing), [SECRET, headers]);
    assert.deepEqual(await audited(), [byOperator("keys.forgotten", { key: idOf(lostBox), secrets: 4 })]);
  });

  it("is given up by more than 500 endpoints, and in a second round by one that was locked", async (test) => {
    const locked = await create(lostBox);
    for (let n = 0; n < 501; n++) {
      const endpoint = newEndpoint({ tenantId });
      const secret = sealSigningSecret(lostBox, SECRET, { tenantId, endpointId: endpoint.id });
      await insertEndpoint(database.pool, { ...endpoint, secret });
    }
    const client = await database.pool.connect();
    const { pool } = database;
    const ask = pool.query.bind(pool);
    try {
      await client.query("BEGIN");
      await client.query("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE", [locked.endpointId]);
      const batches: (number | null)[] = [];
      test.mock.method(pool, "query", async (text: string, values?: unknown[]) => {
        const answer = await ask(text, values);
        if (text.includes("SKIP LOCKED")) batches.push(answer.rowCount);
        // Only now that the first round found no more.
        if (batches.at(-1) === 0) await client.query("COMMIT");
        return answer;
      });
      assert.equal(await forgetKey(pool, idOf(lostBox), () => undefined), 0);
      assert.deepEqual(batches, [500, 1, 0, 1, 0]);
    } finally {
      client.release();
    }
  });
});
