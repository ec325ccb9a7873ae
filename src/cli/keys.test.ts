import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { runHere } from "../../test/support/command.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { makeSecrets } from "../config.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import { sealSigningSecret } from "../endpoints/signing-secret.ts";
import { makeSecretBox } from "../shared/secret-box.ts";

const [first, former, lost] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const acme = tenant("acme");

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() => database.pool.query("DELETE FROM postern.endpoints"));
after(() => database.drop());

async function add(count: number, key: Buffer): Promise<void> {
  const box = makeSecretBox([key]);
  for (let place = 0; place < count; place++) {
    const endpoint = newEndpoint({ tenantId: acme });
    const secret = sealSigningSecret(box, "whsec_x", { tenantId: acme, endpointId: endpoint.id });
    await insertEndpoint(database.pool, { ...endpoint, secret });
  }
}

async function keys(word: "rotate" | "status" | "forget", ...options: string[]) {
  const { code, printed, errors } = await runHere(["keys", word, ...options], {
    ...makeSecrets(),
    DATABASE_URL: database.url,
    DATA_DIR: temporaryPath("data"),
    INTEGRATION_ENCRYPTION_KEY: [first, former].map((key) => key.toString("base64")).join(","),
  });
  // The ids are the keys' own.
  return {
    code,
    errors,
    lines: printed
      .replaceAll(/\b[0-9a-f]{8,}\b/g, "ID")
      .trim()
      .split("\n"),
    printed,
  };
}

describe("postern keys status", () => {
  it("says of each key how many secrets it opens, and what that means", async () => {
    await add(10, first);
    await add(1, former);
    assert.deepEqual((await keys("status")).lines, [
      "ID  10 secrets  first key: encrypts",
      "ID   1 secrets  still needed to decrypt",
    ]);
    await database.pool.query("DELETE FROM postern.endpoints");
    const { code, lines } = await keys("status");
    assert.deepEqual(
      [code, lines],
      [
        0,
        [
          "ID  0 secrets  first key: encrypts",
          "ID  0 secrets  may be removed from INTEGRATION_ENCRYPTION_KEY",
        ],
      ],
    );
  });

  it("does not give up a key that another shard may need", async () => {
    await database.pool.query(
      "INSERT INTO postern.shard (name, directory, keeps_directory) VALUES ('eu1', gen_random_uuid(), true)",
    );
    const told = [(await keys("status")).lines[1], (await keys("rotate")).lines.at(-1)];
    await database.pool.query("DELETE FROM postern.shard");
    const line =
      "ID  0 secrets  not needed in this shard: may be removed from INTEGRATION_ENCRYPTION_KEY when no shard needs it";
    assert.deepEqual(told, [line, line]);
  });

  it("exits with 1 where a key is missing", async () => {
    await add(1, lost);
    const { code, lines } = await keys("status");
    assert.deepEqual(
      [code, lines[2]],
      [1, "ID  1 secrets  not in INTEGRATION_ENCRYPTION_KEY: add it behind a comma"],
    );
    const asJson = await keys("status", "--json");
    assert.deepEqual(
      [
        asJson.code,
        JSON.parse(asJson.printed).map(({ place, secrets }: { place: string; secrets: number }) => [
          place,
          secrets,
        ]),
      ],
      [
        1,
        [
          ["first", 0],
          ["former", 0],
          ["missing", 1],
        ],
      ],
    );
  });
});

describe("postern keys rotate", () => {
  it("encrypts all with the first key, tells how far it is on standard error, and ends well", async () => {
    await add(2, former);
    const { code, lines, errors } = await keys("rotate");
    assert.deepEqual(
      [code, lines],
      [
        0,
        [
          "Encrypted the secrets of 2 endpoints with key ID.",
          "ID  2 secrets  first key: encrypts",
          "ID  0 secrets  may be removed from INTEGRATION_ENCRYPTION_KEY",
        ],
      ],
    );
    assert.match(errors, /^Database: .*\n\d endpoints done\n$/);
  });

  it("exits with 1 where a secret does not open, and says which", async () => {
    await add(1, lost);
    await add(1, former);
    const { code, lines } = await keys("rotate");
    assert.equal(code, 1);
    assert.match(lines[0] ?? "", /^failed {2}/);
    assert.deepEqual(lines.slice(1), [
      "Encrypted the secrets of 1 endpoints with key ID.",
      "ID  1 secrets  first key: encrypts",
      "ID  0 secrets  may be removed from INTEGRATION_ENCRYPTION_KEY",
      "ID  1 secrets  not in INTEGRATION_ENCRYPTION_KEY: add it behind a comma",
      "Some secrets are still under other keys: fix the failures and run this again.",
    ]);
    const asJson = await keys("rotate", "--json");
    const { endpoints, failures } = JSON.parse(asJson.printed);
    assert.deepEqual([asJson.code, endpoints, failures.length], [1, 0, 1]);
  });

  it("exits with 1 where what is stored is no secret of any key", async () => {
    await add(1, first);
    await database.pool.query("UPDATE postern.endpoints SET secret = '\\x00'");
    const { code, lines } = await keys("rotate");
    assert.deepEqual([code, lines.filter((line) => line.startsWith("failed")).length], [1, 1]);
    assert.ok(!lines.some((line) => line.startsWith("Some secrets are still under other keys")));
  });
});

describe("postern keys forget", () => {
  const [id] = makeSecretBox([lost]).keyIds;
  it("names each endpoint that is cut off, and until when", async () => {
    await add(2, lost);
    const { rows } = await database.pool.query<{ id: string }>("SELECT id FROM postern.endpoints");
    await add(1, first);
    const { code, printed } = await keys("forget", id);
    const [last, ...named] = printed.trimEnd().split("\n").toReversed();
    assert.deepEqual(
      [code, last],
      [
        0,
        "2 endpoints get no requests until their secret is rotated and their masked headers are given again, or the key is found and added behind a comma.",
      ],
    );
    assert.deepEqual(named.toSorted(), rows.map((row) => `acme  ${row.id}`).toSorted());
  });
});
