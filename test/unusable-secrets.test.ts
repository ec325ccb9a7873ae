/** Stored signing secrets that do not open: moved, altered, cut off, or under a key that is gone. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeSecrets, readConfig, type Environment } from "../src/config.ts";
import { sealSigningSecret } from "../src/endpoints/signing-secret.ts";
import { parseEndpointId, parseTenantId } from "../src/shared/id.ts";
import { makeSecretBox } from "../src/shared/secret-box.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { OTHER_OWNER, OWNER, type Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const TYPE = "invoice.paid";
let database: TestDatabase;
let receiver: TlsReceiver;
let program: Program;
let env: Environment;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  env = { ...(await sharedSettings(database.url, receiver.caPem)), RATE_LIMIT_WRITES: "0" };
  program = await startProgram(["up"], env);
});
after(async () => {
  await program.end("SIGTERM");
  await receiver.close();
  await database.drop();
});

/** A new endpoint of the tenant, subscribed to one type. */
async function create(as: Claims = OWNER, events = ["document.deleted"]) {
  const { endpoint, secret } = await createEndpoint(program, { url: receiver.url, events }, { as });
  return { id: endpoint.id, secret, as };
}

type Spoil = (id: string) => Promise<void>;

async function setSecret(id: string, sql: string, ...values: unknown[]): Promise<void> {
  await database.pool.query(`UPDATE postern.endpoints SET secret = ${sql} WHERE id = $1`, [id, ...values]);
}

const spoils: [name: string, spoil: Spoil, reason: RegExp, metric: string][] = [
  [
    "another endpoint's of the same tenant",
    async (id) => setSecret(id, "(SELECT secret FROM postern.endpoints WHERE id = $2)", (await create()).id),
    /altered or belongs to another row/,
    "altered",
  ],
  [
    "another tenant's",
    async (id) =>
      setSecret(id, "(SELECT secret FROM postern.endpoints WHERE id = $2)", (await create(OTHER_OWNER)).id),
    /altered or belongs to another row/,
    "altered",
  ],
  [
    "altered in one bit",
    (id) => setSecret(id, "set_byte(secret, 20, get_byte(secret, 20) # 1)"),
    /altered or belongs to another row/,
    "altered",
  ],
  [
    "cut off by a byte",
    (id) => setSecret(id, "substring(secret FROM 1 FOR octet_length(secret) - 1)"),
    /altered or belongs to another row/,
    "altered",
  ],
  [
    "cut off to its head",
    (id) => setSecret(id, "substring(secret FROM 1 FOR 17)"),
    /not an encrypted secret of a known form/,
    "form",
  ],
  [
    "under a key that the ring lacks",
    (id) => setSecret(id, "$2", foreignSecret(id)),
    /encrypted with key [0-9a-f]{8}, which INTEGRATION_ENCRYPTION_KEY does not hold: add it behind a comma/,
    "key",
  ],
];

function foreignSecret(id: string): Buffer {
  const box = makeSecretBox(readConfig(makeSecrets()).encryptionKeys);
  const [tenantId, endpointId] = [parseTenantId("acme"), parseEndpointId(id)];
  assert.ok(tenantId !== null && endpointId !== null);
  return sealSigningSecret(box, "whsec_AAAA", { tenantId, endpointId });
}

async function unusable(reason: string): Promise<number> {
  const { text } = await program.call("GET", "/metrics", { as: null });
  return Number(
    new RegExp(`^webhook_unusable_secrets_total\\{reason="${reason}"\\} (\\d+)$`, "m").exec(text)?.[1],
  );
}

describe("a stored secret that is", () => {
  for (const [name, spoil, reason, metric] of spoils) {
    it(`${name} signs nothing, is named without its content, and keeps no other endpoint back`, async () => {
      const { id, secret } = await create(OWNER, [TYPE]);
      const healthy = await create(OWNER, [TYPE]);
      await spoil(id);
      const counted = (await unusable(metric)) || 0;
      const logged = program.output().length;
      const sent = receiver.requests.length;

      const answer = await program.call("POST", `/api/webhooks/${id}/test`, { json: { event_type: TYPE } });
      const error = "The endpoint's signing secret cannot be decrypted";
      assert.deepEqual([answer.status, answer.body], [500, { error }]);

      await publish(program, TYPE);
      await eventually(async () => (await listDeliveries(program, healthy.id, "?status=delivered"))[0]);
      const log = await eventually(async () => {
        const text = program.output().slice(logged);
        return text.includes("an attempt or the record of its outcome failed") && text;
      });
      for (const line of [
        "a signing secret cannot be decrypted",
        "an attempt or the record of its outcome failed",
      ]) {
        const told = log.split("\n").find((text) => text.includes(line)) ?? "";
        assert.ok(told.includes(`signing-secret/acme/${id}`), told);
        assert.match(told, reason);
      }
      assert.ok(!log.includes(secret) && !log.includes(secret.slice("whsec_".length)));
      assert.ok((await unusable(metric)) >= counted + 2);
      const { text } = await program.call("GET", "/ready", { as: null });
      assert.match(text, /"status":"ready".*the signing secrets? of \d endpoints? do(?:es)? not open/);
      assert.equal(receiver.requests.length, sent + 1);

      // No attempt is used up: with a secret that opens the event would be sent. Here its tenant gives up on it.
      assert.deepEqual(
        (await listDeliveries(program, id)).map(({ status }) => status),
        ["pending"],
      );
      for (const one of [id, healthy.id]) await program.call("DELETE", `/api/webhooks/${one}`);
    });
  }
});
