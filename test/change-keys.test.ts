/** `postern keys`: the encryption key is changed while the service runs. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { makeSecrets, readConfig, type Environment } from "../src/config.ts";
import { changeKeys, readKeyUse } from "../src/endpoints/change-keys.ts";
import { listSealedOtherwise, replaceSealed } from "../src/endpoints/reseal-store.ts";
import { openSigningSecret, sealSigningSecret } from "../src/endpoints/signing-secret.ts";
import { changeHeaders, NO_HEADERS, openHeaders } from "../src/endpoints/static-headers.ts";
import { generateSigningSecret } from "../src/outbound/signature.ts";
import { newEndpointId, parseEndpointId, type EndpointId, type TenantId } from "../src/shared/id.ts";
import { makeSecretBox } from "../src/shared/secret-box.ts";
import { mutationSettings } from "./support/mutation.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { MAIN, runProgram } from "./support/program.ts";
import { serviceSignature } from "./support/receivers.ts";
import { startTestService } from "./support/service.ts";
import { tenant } from "./support/two-tenants.ts";
import { publish, webhooksOf } from "./support/webhooks.ts";

const ACME = tenant("acme");
const [former, next] = [makeSecrets(), makeSecrets()].map((made) => made.INTEGRATION_ENCRYPTION_KEY);
const ring = `${next},${former}`;
const boxOf = (keys: string | undefined) =>
  makeSecretBox(readConfig({ ...makeSecrets(), INTEGRATION_ENCRYPTION_KEY: keys }).encryptionKeys);
const old = boxOf(former);
const both = boxOf(ring);
const [nextId, formerId] = both.keyIds;

let database: TestDatabase;
let env: Environment;

before(async () => {
  database = await createTestDatabase();
  env = { ...makeSecrets(), DATABASE_URL: database.url, INTEGRATION_ENCRYPTION_KEY: ring };
});
after(() => database.drop());

type Stored = { tenantId: TenantId; endpointId: EndpointId; secret: string };

/** Endpoints with secrets sealed by the former key; of every third a grace period runs. */
async function seal(count: number): Promise<Stored[]> {
  await database.pool.query("TRUNCATE postern.endpoints, postern.audit_log");
  const stored = Array.from({ length: count }, () => {
    return { tenantId: ACME, endpointId: newEndpointId(), secret: generateSigningSecret() };
  });
  await database.pool.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, previous_secret, previous_secret_until,
        created_at, updated_at)
      SELECT 'acme', id, 'https://example.com/', '{*}', secret, previous,
        CASE WHEN previous IS NOT NULL THEN now() + interval '1 day' END, now(), now()
      FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS given (id, secret, previous)`,
    [
      stored.map(({ endpointId }) => endpointId),
      stored.map((one) => sealSigningSecret(old, one.secret, one)),
      stored.map((one, place) => (place % 3 === 0 ? sealSigningSecret(old, `${one.secret}=`, one) : null)),
    ],
  );
  return stored;
}

async function audited() {
  const { rows } = await database.pool.query(
    "SELECT tenant_id, actor_type, action, details FROM postern.audit_log ORDER BY id",
  );
  return rows;
}

/** Every stored secret opens to what it was, by the keys given; a former one too. */
async function assertAllOpen(stored: readonly Stored[], keys: string | undefined): Promise<void> {
  const box = boxOf(keys);
  const { rows } = await database.pool.query("SELECT id, secret, previous_secret FROM postern.endpoints");
  const sealed = new Map(rows.map((row) => [row["id"], row]));
  for (const [place, one] of stored.entries()) {
    const row = sealed.get(one.endpointId);
    assert.equal(openSigningSecret(box, row?.["secret"], one), one.secret);
    if (place % 3 === 0)
      assert.equal(openSigningSecret(box, row?.["previous_secret"], one), `${one.secret}=`);
  }
}

describe("postern keys rotate", () => {
  it("encrypts every secret anew, and says which key is no longer needed", async () => {
    const stored = await seal(1201);
    const { code, output } = await runProgram(["keys", "rotate"], env);
    assert.equal(code, 0, output);
    assert.match(output, /^500 endpoints done$/m);
    assert.match(output, new RegExp(`^Encrypted the secrets of 1201 endpoints with key ${nextId}\\.$`, "m"));
    assert.match(output, new RegExp(`^${nextId} {2}1602 secrets {2}first key: encrypts$`, "m"));
    assert.match(
      output,
      new RegExp(`^${formerId} {5}0 secrets {2}may be removed from INTEGRATION_ENCRYPTION_KEY$`, "m"),
    );
    await assertAllOpen(stored, next);
    const by = { tenant_id: null, actor_type: "operator" };
    const counts = (first: number, second: number) => ({ [nextId]: first, [formerId ?? ""]: second });
    const told = [
      { ...by, action: "keys.rotation_started", details: { secrets_by_key: counts(0, 1602) } },
      {
        ...by,
        action: "keys.rotated",
        details: { endpoints: 1201, failures: 0, secrets_by_key: counts(1602, 0) },
      },
    ];
    assert.deepEqual(await audited(), told);

    const again = await runProgram(["keys", "rotate", "--json"], env);
    assert.equal(again.code, 0);
    const keys = [
      { keyId: nextId, place: "first", secrets: 1602 },
      { keyId: formerId, place: "former", secrets: 0 },
    ];
    assert.deepEqual(JSON.parse(again.printed), { endpoints: 0, failures: [], keys });
    assert.deepEqual(await audited(), told);
  });

  it("loses nothing when it is killed, and goes on where it was", async () => {
    const stored = await seal(6000);
    // It comes back for a locked endpoint for five seconds, so it has not ended when the kill comes.
    const holder = await database.pool.connect();
    await holder.query("BEGIN");
    await holder.query("SELECT FROM postern.endpoints WHERE id = $1 FOR SHARE", [stored.at(-1)?.endpointId]);
    const child = spawn(MAIN, ["keys", "rotate"], {
      env: { PATH: process.env["PATH"], ...mutationSettings(), ...env },
    });
    const exited = once(child, "exit");
    // Not at the line that names the database.
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("endpoints done")) child.kill("SIGKILL");
    });
    assert.deepEqual(await exited, [null, "SIGKILL"]);
    await holder.query("ROLLBACK");
    holder.release();
    const [first] = await readKeyUse(database.pool, both);
    assert.ok(
      first !== undefined && first.secrets > 0 && first.secrets < 8000,
      `${first?.secrets} were done`,
    );
    await assertAllOpen(stored, ring);
    assert.deepEqual(
      (await audited()).map(({ action }) => action),
      ["keys.rotation_started"],
    );
    const { code, output } = await runProgram(["keys", "rotate", "--json"], env);
    assert.equal(code, 0, output);
    await assertAllOpen(stored, next);
  });

  it("encrypts masked headers anew too, also where the secret is under the first key already", async () => {
    const [one] = await seal(1);
    assert.ok(one !== undefined);
    const change = { headers: { authorization: "Basic x", "x-key": "k" }, masked_headers: ["X-Key"] };
    const { headers, sealedHeaders } = changeHeaders(old, one, NO_HEADERS, change);
    await database.pool.query("UPDATE postern.endpoints SET secret = $1, sealed_headers = $2", [
      sealSigningSecret(both, one.secret, one),
      sealedHeaders,
    ]);
    const { code, output } = await runProgram(["keys", "rotate", "--json"], env);
    assert.equal(code, 0, output);
    const { rows } = await database.pool.query("SELECT sealed_headers FROM postern.endpoints");
    const sealed = rows[0]?.["sealed_headers"];
    assert.deepEqual(openHeaders(boxOf(next), { headers, sealedHeaders: sealed }, one), change.headers);
  });

  it("names the endpoint whose secret does not open, does the others, and ends with 1", async () => {
    const stored = await seal(4);
    const [altered, foreign] = stored;
    const foreignBox = boxOf(makeSecrets().INTEGRATION_ENCRYPTION_KEY);
    assert.ok(altered !== undefined && foreign !== undefined);
    await database.pool.query(
      "UPDATE postern.endpoints SET secret = set_byte(secret, 20, get_byte(secret, 20) # 1) WHERE id = $1",
      [altered.endpointId],
    );
    await database.pool.query("UPDATE postern.endpoints SET secret = $2 WHERE id = $1", [
      foreign.endpointId,
      sealSigningSecret(foreignBox, foreign.secret, foreign),
    ]);
    const { code, output } = await runProgram(["keys", "rotate"], env);
    assert.equal(code, 1, output);
    const lines = output.split("\n");
    const failed = (id: string) => lines.find((line) => line.startsWith("failed") && line.includes(id)) ?? "";
    assert.match(failed(altered.endpointId), /the stored secret was altered or belongs to another row$/);
    assert.match(
      failed(foreign.endpointId),
      new RegExp(`encrypted with key ${foreignBox.keyIds[0]}, .*add it`),
    );
    assert.match(
      output,
      new RegExp(`^${foreignBox.keyIds[0]} .* not in INTEGRATION_ENCRYPTION_KEY: add it`, "m"),
    );
    assert.match(output, new RegExp(`^${formerId} .* still needed to decrypt$`, "m"));
    for (const { secret } of stored) assert.ok(!output.includes(secret.slice("whsec_".length)));
    const [first] = await readKeyUse(database.pool, both);
    assert.equal(first?.secrets, 3);
    const status = await runProgram(["keys", "status", "--json"], env);
    assert.equal(status.code, 1);
    assert.deepEqual(
      JSON.parse(status.printed).map((use: { place: string }) => use.place),
      ["first", "former", "missing"],
    );
  });

  it("removes former secrets whose grace is over, whatever key they need", async () => {
    const stored = await seal(1);
    await database.pool.query(
      "UPDATE postern.endpoints SET previous_secret = '\\x00', previous_secret_until = now() - interval '1 s'",
    );
    const change = await changeKeys(database.pool, both, () => undefined);
    assert.deepEqual([change.endpoints, change.failures], [1, []]);
    const { rows } = await database.pool.query("SELECT previous_secret FROM postern.endpoints");
    assert.deepEqual(rows, [{ previous_secret: null }]);
    assert.equal(stored.length, 1);
  });
});

describe("a batch of a change of keys", () => {
  it("leaves a secret that was rotated since it was read", async () => {
    const [one, other] = await seal(2);
    assert.ok(one !== undefined && other !== undefined);
    const read = await listSealedOtherwise(database.pool, nextId, { after: null, limit: 10 });
    const rotated = sealSigningSecret(both, "the newest", one);
    await database.pool.query("UPDATE postern.endpoints SET secret = $2 WHERE id = $1", [
      one.endpointId,
      rotated,
    ]);
    const changes = read.map((sealed) => {
      return {
        old: sealed,
        secret: sealSigningSecret(both, "stale", sealed),
        previousSecret: null,
        sealedHeaders: null,
      };
    });
    assert.equal(await replaceSealed(database.pool, changes), 1);
    const { rows } = await database.pool.query("SELECT secret FROM postern.endpoints WHERE id = $1", [
      one.endpointId,
    ]);
    assert.equal(openSigningSecret(both, rows[0]?.["secret"], one), "the newest");
  });

  it("does not wait for an endpoint that somebody has locked, and comes back for it", async () => {
    const stored = await seal(3);
    const holder = await database.pool.connect();
    await holder.query("BEGIN");
    await holder.query("SELECT FROM postern.endpoints WHERE id = $1 FOR SHARE", [stored[1]?.endpointId]);
    const seen: number[] = [];
    const change = await changeKeys(database.pool, both, (endpoints) => {
      seen.push(endpoints);
      if (seen.length === 1) void holder.query("COMMIT");
    });
    holder.release();
    assert.equal(seen[0], 2);
    assert.deepEqual([change.endpoints, change.failures], [3, []]);
    await assertAllOpen(stored, next);
  });
});

describe("while keys are changed", () => {
  it("deliveries and tests go on, signed with the secret that the tenant knows", async (test) => {
    await seal(600);
    await database.pool.query("UPDATE postern.endpoints SET events = '{document.signed}'");
    const service = await startTestService({
      database,
      env: { INTEGRATION_ENCRYPTION_KEY: ring, MAX_ENDPOINTS_PER_TENANT: "1000" },
    });
    test.after(() => service.stop());
    const webhooks = webhooksOf(service);
    const { endpoint, secret } = await webhooks.create();
    const endpointId = parseEndpointId(endpoint.id);
    assert.ok(endpointId !== null);
    await database.pool.query("UPDATE postern.endpoints SET secret = $2 WHERE id = $1", [
      endpointId,
      sealSigningSecret(old, secret, { tenantId: ACME, endpointId }),
    ]);
    const changing = changeKeys(database.pool, both, () => undefined);
    for (let count = 1; count <= 5; count++) {
      await publish(service, { type: "invoice.paid" });
      await webhooks.waitFor(endpoint.id, "delivered", count);
      await webhooks.test(endpoint.id, "invoice.paid");
    }
    const change = await changing;
    assert.deepEqual(change.failures, []);
    await publish(service, { type: "invoice.paid" });
    await webhooks.waitFor(endpoint.id, "delivered", 6);
    const { requests } = service.receiver;
    assert.equal(requests.length, 11);
    for (const request of requests) {
      assert.equal(request.headers["x-service-signature"], serviceSignature(secret, request));
    }
  });
});
