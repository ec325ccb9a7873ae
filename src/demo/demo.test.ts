import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it, mock } from "node:test";
import { decodeJwt, jwtVerify } from "jose";
import { freePort } from "../../test/support/free-port.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets } from "../config.ts";
import { sealSigningSecret } from "../endpoints/signing-secret.ts";
import { loadCatalog } from "../events/catalog.ts";
import { newEndpointId, parseTenantId } from "../shared/id.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import { shellWord } from "../shared/shell-word.ts";
import { startDemo, type Demo } from "./demo.ts";

const HOUR_S = 3600;
const sample = { type: "invoice.paid", pattern: "invoice.*", data: {} };

let database: TestDatabase;
let dataDir: string;
let demo: Demo | null = null;
/** What was printed. */
let printed: string[] = [];

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => {
  dataDir = temporaryPath("demo");
  printed = [];
  mock.method(console, "log", (line: string) => void printed.push(line));
});
afterEach(async () => {
  mock.restoreAll();
  await demo?.stop();
  demo = null;
});

async function start(env: Record<string, string> = {}): Promise<Demo> {
  demo = await startDemo({ DATA_DIR: dataDir, ...env });
  return demo;
}

/** What the demonstration says, and the variables of the file that it tells to read. */
async function welcome(of: Demo, databaseUrl: string) {
  const text = await of.welcome({ apiUrl: "http://127.0.0.1:8080", databaseUrl, sample });
  const file = await readFile(join(dataDir, "demo.env"), "utf8");
  const found = [...file.matchAll(/^export ([A-Z_]+)='(.*)'$/gm)].map(([, name, value]) => [name, value]);
  const variables: Record<string, string> = Object.fromEntries(found);
  return { text, variables };
}

describe("the settings of the demonstration", () => {
  it("are the environment's, with secrets that it keeps, few log lines, and its receiver's address alone opened", async () => {
    const first = (await start({ PORT: "0" })).env;
    const { INTEGRATION_ENCRYPTION_KEY, SESSION_JWT_SECRET, ...others } = first;
    assert.deepEqual(others, {
      PORT: "0",
      DATA_DIR: dataDir,
      LOG_LEVEL: "warn",
      OUTBOUND_ALLOWED_CIDRS: "127.0.0.1/32",
    });
    await demo?.stop();
    const { env } = await start();
    assert.deepEqual(
      [env["INTEGRATION_ENCRYPTION_KEY"], env["SESSION_JWT_SECRET"]],
      [INTEGRATION_ENCRYPTION_KEY, SESSION_JWT_SECRET],
    );
  });

  it("leave what the operator set: secrets, the log's level, and addresses beside its own", async () => {
    const given = { ...makeSecrets(), LOG_LEVEL: "debug", OUTBOUND_ALLOWED_CIDRS: "10.0.0.0/8" };
    assert.deepEqual((await start(given)).env, {
      ...given,
      DATA_DIR: dataDir,
      OUTBOUND_ALLOWED_CIDRS: "10.0.0.0/8,127.0.0.1/32",
    });
  });

  it("are refused beside an issuer of tokens", async () => {
    await assert.rejects(startDemo({ DATA_DIR: dataDir, SESSION_JWKS_URL: "https://login.example.com/" }), {
      name: "ConfigError",
      message: /unset SESSION_JWKS_URL/,
    });
  });
});

describe("the tokens of the demonstration", () => {
  it("are a user's and a service's that only publishes, for twelve hours, as the settings ask for them", async () => {
    const of = await start({ SESSION_ISSUER: "me", SESSION_AUDIENCE: "postern" });
    const { text, variables } = await welcome(of, "postgres://of/it");
    assert.ok(text.includes(`/portal#code=${of.portalCode.code}\n`));
    assert.ok(text.includes(`DATA_DIR=${shellWord(dataDir)} npm run`));
    assert.deepEqual(Object.keys(variables), ["USER_TOKEN", "SERVICE_TOKEN", "DATABASE_URL"]);
    assert.equal(variables["DATABASE_URL"], "postgres://of/it");
    const key = new TextEncoder().encode(of.env["SESSION_JWT_SECRET"]);
    const nowS = Date.now() / 1000;
    for (const [name, claims] of [
      ["USER_TOKEN", { type: "user", tid: "demo", sub: "you", role: "owner" }],
      ["SERVICE_TOKEN", { type: "service", tid: "demo", sub: "app", permissions: ["events:write"] }],
    ] as const) {
      const token = variables[name] ?? "";
      await jwtVerify(token, key, { issuer: "me", audience: "postern" });
      const { exp = 0, iss: _iss, aud: _aud, ...rest } = decodeJwt(token);
      assert.deepEqual(rest, claims);
      assert.ok(exp > nowS + 11 * HOUR_S && exp < nowS + 13 * HOUR_S, name);
    }
    const { grant, minutes } = of.portalCode;
    assert.deepEqual(grant, { tenantId: "demo", subject: "you", role: "owner", isReadOnly: false });
    assert.equal(minutes, 24 * 60);
  });
});

describe("what runs beside the demonstration's service", () => {
  it("knows the secrets of its tenant's endpoints once it is connected", async () => {
    const of = await start();
    const tenantId = parseTenantId("demo");
    assert.ok(tenantId !== null);
    const encryptionKeys = [Buffer.from(of.env["INTEGRATION_ENCRYPTION_KEY"] ?? "", "base64")];
    const owner = { tenantId, endpointId: newEndpointId() };
    await database.pool.query(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
        VALUES ('demo', $1, 'https://example.com/', '{*}', $2, now(), now())`,
      [owner.endpointId, sealSigningSecret(makeSecretBox(encryptionKeys), "whsec_of_demo", owner)],
    );
    const { text } = await welcome(of, database.url);
    const [, url = ""] = /^ {2}Receiver +(\S+)/m.exec(text) ?? [];
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", "whsec_of_demo").update(`${timestamp}.{}`).digest("hex");
    const sent = request(url, {
      ca: of.caPem,
      method: "POST",
      agent: false,
      headers: {
        "x-service-event": "invoice.paid",
        "x-service-timestamp": timestamp,
        "x-service-signature": `sha256=${signature}`,
      },
    });
    sent.end("{}");
    // What comes before the service is there waits for it.
    of.connect({ databaseUrl: database.url, encryptionKeys });
    const [answer] = await once(sent, "response");
    answer.resume();
    assert.equal(answer.statusCode, 200);
  });

  it("goes on without a history, and says why there is none", async () => {
    const nobody = await freePort();
    const of = await start();
    const traffic = await of.live({
      apiUrl: `http://127.0.0.1:${nobody}`,
      databaseUrl: `postgres://127.0.0.1:${nobody}/postern`,
      retryScheduleMs: [0],
      catalog: await loadCatalog(undefined),
      sample,
    });
    await traffic.stop();
    assert.match(printed[0] ?? "", /^demonstration: no history was made: .*ECONNREFUSED/);
    assert.match(printed[1] ?? "", /^demonstration: no event was published: /);
  });
});
