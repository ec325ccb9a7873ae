import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { inTransaction } from "../database/transaction.ts";
import { makeSecretBox, SecretBoxError } from "../shared/secret-box.ts";
import { insertEndpoint, softDeleteEndpoint } from "./endpoint-store.ts";
import {
  lockSendTarget,
  lockTarget,
  readSendTarget,
  readStoredTargets,
  readTenantSecrets,
  type SendTarget,
} from "./send-target.ts";
import { sealSigningSecret } from "./signing-secret.ts";
import { changeHeaders, NO_HEADERS } from "./static-headers.ts";

const SECRET = "the-current-secret";
const FORMER = "the-former-secret";
const tenantId = tenant("acme");
const box = makeSecretBox([randomBytes(32)]);

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() => database.pool.query("DELETE FROM postern.endpoints"));
after(() => database.drop());

async function create(secret = SECRET, graceMinutes = 0) {
  const endpoint = newEndpoint({ tenantId });
  const key = { tenantId, endpointId: endpoint.id };
  const stored = changeHeaders(box, key, NO_HEADERS, {
    headers: { "X-Team": "billing", "X-Api-Key": "key" },
    masked_headers: ["X-Api-Key"],
  });
  const sealed = sealSigningSecret(box, secret, key);
  await insertEndpoint(database.pool, { ...endpoint, secret: sealed, stored });
  await database.pool.query(
    `UPDATE postern.endpoints SET previous_secret = $2, previous_secret_until = now() + $3 * interval '1 min'
      WHERE id = $1`,
    [endpoint.id, sealSigningSecret(box, FORMER, key), graceMinutes],
  );
  return key;
}

const secretsOf = (target: SendTarget | null) =>
  target?.signingKeys.map(({ whole }) => whole.export().toString());

describe("an endpoint made ready to be sent to", () => {
  it("has its headers and keys opened, and nothing that is sealed", async () => {
    const key = await create();
    const target = await readSendTarget(database.pool, box, key);
    assert.deepEqual(secretsOf(target), [SECRET]);
    assert.ok(target !== null);
    const { signingKeys: _keys, ...rest } = target;
    assert.deepEqual(rest, {
      ...key,
      url: "https://example.org/",
      events: ["*"],
      enabled: true,
      mode: "push",
      temporaryUntil: null,
      rateLimit: null,
      headers: { "X-Team": "billing", "X-Api-Key": "key" },
      masked: new Set(["authorization", "x-api-key"]),
      failingSince: null,
      keeps: null,
    });
  });

  it("has the former secret behind the current one until the grace period ends", async () => {
    assert.deepEqual(secretsOf(await readSendTarget(database.pool, box, await create(SECRET, 1))), [
      SECRET,
      FORMER,
    ]);
    assert.deepEqual(secretsOf(await readSendTarget(database.pool, box, await create(SECRET, -1))), [SECRET]);
  });

  it("is none where it was deleted", async () => {
    const [gone, left] = [await create(), await create()];
    await softDeleteEndpoint(database.pool, tenantId, gone.endpointId);
    assert.equal(await readSendTarget(database.pool, box, gone), null);
    assert.equal(await lockTarget(database.pool, gone), null);
    assert.equal(await lockSendTarget(database.pool, box, gone), null);
    const found = await readStoredTargets(database.pool, [gone, left]);
    assert.deepEqual(
      found.map(({ endpointId }) => endpointId),
      [left.endpointId],
    );
  });

  it("is none under a key that is not in the ring", async () => {
    const key = await create();
    await assert.rejects(
      readSendTarget(database.pool, makeSecretBox([randomBytes(32)]), key),
      SecretBoxError,
    );
  });
});

it("a locked endpoint stays as it is until the transaction ends", async () => {
  const key = await create();
  const deletion = await inTransaction(database.pool, async (transaction) => {
    const target = await lockSendTarget(transaction, box, key);
    assert.deepEqual(secretsOf(target), [SECRET]);
    const deleting = softDeleteEndpoint(database.pool, tenantId, key.endpointId);
    const pid = await pidOf(transaction);
    await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
    assert.deepEqual(secretsOf(await lockSendTarget(transaction, box, key)), [SECRET]);
    return { deleting };
  });
  assert.equal(await deletion.deleting, true);
});

it("a tenant's secrets are the current ones of its endpoints", async () => {
  await create("the-first-of-the-secrets", 1);
  await create("the-second-of-the-secrets");
  assert.deepEqual((await readTenantSecrets(database.pool, box, tenantId)).toSorted(), [
    "the-first-of-the-secrets",
    "the-second-of-the-secrets",
  ]);
  assert.deepEqual(await readTenantSecrets(database.pool, box, tenant("globex")), []);
});
