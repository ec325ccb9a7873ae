import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { ConfigError } from "../shared/config-error.ts";
import { newEndpointId } from "../shared/id.ts";
import { makeSecretBox, SecretBoxError } from "../shared/secret-box.ts";
import { insertEndpoint } from "./endpoint-store.ts";
import { openSigningSecret, requireKeysInUse, sealSigningSecret } from "./signing-secret.ts";

const tenantId = tenant("acme");
const SECRET = "a-secret-of-the-tenants-own";

describe("a sealed signing secret", () => {
  const box = makeSecretBox([randomBytes(32)]);
  const owner = { tenantId, endpointId: newEndpointId() };
  const sealed = sealSigningSecret(box, SECRET, owner);

  it("opens for its tenant and endpoint alone", () => {
    assert.equal(openSigningSecret(box, sealed, owner), SECRET);
    for (const other of [
      { ...owner, endpointId: newEndpointId() },
      { ...owner, tenantId: tenant("globex") },
    ])
      assert.throws(() => openSigningSecret(box, sealed, other), SecretBoxError);
  });

  it("is none of the endpoint's other sealed values", () => {
    const { endpointId } = owner;
    assert.equal(box.open(sealed, ["signing-secret", tenantId, endpointId]), SECRET);
    assert.throws(() => box.open(sealed, ["static-headers", tenantId, endpointId]), SecretBoxError);
  });
});

describe("a start", () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it("needs every key that encrypts a secret in the database, and names those that are missing", async () => {
    const rings = [randomBytes(32), randomBytes(32), randomBytes(32)].map((key) => ({
      key,
      box: makeSecretBox([key]),
    }));
    const [first, second, third] = rings;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    for (const { box } of [first, second, second, third, third, third]) {
      const endpoint = newEndpoint({ tenantId });
      const secret = sealSigningSecret(box, SECRET, { tenantId, endpointId: endpoint.id });
      await insertEndpoint(database.pool, { ...endpoint, secret });
    }
    await requireKeysInUse(database.pool, makeSecretBox([third.key, first.key, second.key]));
    const missing = [
      { keyId: second.box.keyIds[0], count: 2 },
      { keyId: third.box.keyIds[0], count: 3 },
    ].toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1));
    const ids = missing.map(({ keyId }) => keyId).join(", ");
    const counts = missing.map(({ count }) => count).join(", ");
    await assert.rejects(requireKeysInUse(database.pool, first.box), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(
        error.message,
        `INTEGRATION_ENCRYPTION_KEY lacks key ${ids}, which encrypts secrets in this database (${counts}). ` +
          "Add the former key behind a comma: the first key encrypts, all decrypt. " +
          `If it is lost for good, \`postern keys forget ${missing[0]?.keyId}\` (docs/operating.md, Keys) lets Postern start without it.`,
      );
      return true;
    });
  });
});
