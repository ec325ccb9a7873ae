/** Where secrets must never appear: answers, the log, metrics. The program runs as its operator runs it. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeSecrets, type Environment } from "../src/config.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, startProgram, type Program } from "./support/program.ts";
import { steered } from "./support/receivers.ts";
import { issueTestToken, OWNER, PRODUCER, type CallOptions } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const STATIC_AUTHORIZATION = "Bearer the-receivers-own-token";
const METRICS_TOKEN = "the-operators-metrics-token";

const receiver = steered();
let folder: string;
let database: TestDatabase;
let target: TlsReceiver;
let program: Program;
let env: Environment;
let url: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-secrets-"));
  database = await createTestDatabase();
  target = await startReceiver({ respond: receiver.respond });
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, target.caPem);
  env = {
    ...makeSecrets(),
    PORT: "0",
    LOG_LEVEL: "trace",
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    OUTBOUND_ALLOWED_CIDRS: "127.0.0.0/8",
    NODE_EXTRA_CA_CERTS: caFile,
    METRICS_TOKEN,
    RETRY_SCHEDULE: "0s",
  };
  program = await startProgram(["up"], env);
  url = program.url;
});
after(async () => {
  await program.end("SIGTERM");
  await target.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

type Answer = { status: number; text: string };

async function call(
  method: string,
  path: string,
  { as = OWNER, json, raw, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const authorization = as === null ? {} : { authorization: `Bearer ${await issueTestToken(env, as)}` };
  const body = json === undefined ? raw : JSON.stringify(json);
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...authorization, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text() };
}

const parsed = (answer: Answer) => Object(JSON.parse(answer.text));

function assertTellsNothing(text: string, secrets: readonly string[]): void {
  for (const secret of secrets)
    assert.ok(!text.includes(secret), `${secret.slice(0, 12)}… stands in ${text.slice(0, 500)}`);
}

describe("secrets", () => {
  it("stand in no answer, log line or metric, whatever the receiver does", async () => {
    const created = parsed(
      await call("POST", "/api/webhooks", {
        json: { url: target.url, headers: { Authorization: STATIC_AUTHORIZATION } },
      }),
    );
    const path = `/api/webhooks/${created.endpoint.id}`;
    const rotated = parsed(
      await call("POST", `${path}/rotate-secret`, { json: { grace_seconds: 60 } }),
    ).secret;
    const signing = [created.secret, rotated].flatMap((secret: string) => [
      secret,
      secret.slice("whsec_".length),
    ]);
    const own = [env["INTEGRATION_ENCRYPTION_KEY"] ?? "", env["SESSION_JWT_SECRET"] ?? "", METRICS_TOKEN];
    const token = await issueTestToken(env, OWNER);
    const everywhere = [...signing, ...own, token];

    const answers: Answer[] = [];
    for (const status of [200, 500]) {
      receiver.answer = () => ({ status });
      answers.push(await call("POST", `${path}/test`, { json: { event_type: "invoice.paid" } }));
      const published = await call("POST", "/api/events", {
        as: PRODUCER,
        json: { type: "invoice.paid", data: {} },
      });
      const { id } = parsed(published);
      await eventually(async () => {
        const log = parsed(await call("GET", `${path}/deliveries?event_id=${id}`)).deliveries[0];
        return log !== undefined && log.status !== "pending";
      });
      answers.push(published);
    }
    const failed = parsed(await call("GET", `${path}/deliveries?status=failed`)).deliveries[0];
    receiver.answer = () => {
      target.dropConnections();
      return undefined;
    };
    answers.push(await call("POST", `${path}/deliveries/${failed.id}/retry`));
    answers.push(await call("POST", `${path}/test`, { json: { event_type: "invoice.paid" } }));
    answers.push(await call("GET", `${path}/deliveries`));
    answers.push(await call("GET", `${path}/deliveries/${failed.id}`));
    // Each of these is refused; none may repeat what it was given.
    answers.push(
      await call("GET", "/api/webhooks", { as: null, headers: { authorization: `Bearer ${token}x` } }),
    );
    answers.push(await call("POST", `${path}/rotate-secret`, { json: { grace_seconds: rotated } }));
    answers.push(
      await call("POST", "/api/webhooks", { json: { url: `https://${rotated}@hooks.example.com/` } }),
    );
    answers.push(await call("PATCH", path, { raw: `{"url":"${rotated}` }));
    answers.push(await call("GET", "/metrics", { as: null, headers: { authorization: "Bearer x" } }));
    const metrics = await call("GET", "/metrics", {
      as: null,
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    });
    assert.equal(metrics.status, 200);
    const texts = [...answers, metrics].map(({ text }) => text);
    assert.equal(texts.filter((text) => text.includes("[masked]")).length, 3);
    assertTellsNothing(texts.join("\n"), [...everywhere, STATIC_AUTHORIZATION]);

    const shown = [await call("GET", path), await call("GET", "/api/webhooks")];
    assertTellsNothing(shown.map(({ text }) => text).join("\n"), [...everywhere, STATIC_AUTHORIZATION]);

    // The receiver got what the log masks.
    assert.ok(target.requests.every(({ headers }) => headers.authorization === STATIC_AUTHORIZATION));
    const log = program.output();
    assert.ok(log.includes('"msg":"started"'));
    assert.match(log, /"reason":"the token is not signed as it must be".*"msg":"a caller was refused"/);
    assertTellsNothing(log, [...everywhere, STATIC_AUTHORIZATION, "the-receivers-own-token"]);
  });

  it("stand in no log line of a caller without a permission, which names the permission", async () => {
    const before = program.output().length;
    const as = { ...OWNER, role: "member" };
    const answer = await call("POST", "/api/webhooks", { as, json: { url: target.url } });
    assert.deepEqual([answer.status, parsed(answer)], [403, { error: "Forbidden" }]);
    const line = await eventually(async () =>
      program
        .output()
        .slice(before)
        .split("\n")
        .find((text) => text.includes('"msg":"a caller was refused"')),
    );
    const { reason, status, level } = Object(JSON.parse(line));
    assert.deepEqual([reason, status, level], ["the permission settings:write is needed", 403, "info"]);
    assertTellsNothing(line, [await issueTestToken(env, as), env["SESSION_JWT_SECRET"] ?? ""]);
  });

  it("stand in no log line of a request that cannot open one", async () => {
    const created = parsed(await call("POST", "/api/webhooks", { json: { url: target.url } }));
    await database.pool.query("UPDATE postern.endpoints SET secret = '\\x0102030405' WHERE id = $1", [
      created.endpoint.id,
    ]);
    const before = program.output().length;
    const answer = await call("POST", `/api/webhooks/${created.endpoint.id}/test`, {
      json: { event_type: "invoice.paid" },
    });
    const error = "The endpoint's signing secret cannot be decrypted";
    assert.deepEqual([answer.status, parsed(answer)], [500, { error }]);
    const log = await eventually(async () => {
      const text = program.output().slice(before);
      return text.includes("a signing secret cannot be decrypted") && text;
    });
    assertTellsNothing(log, [
      created.secret,
      env["INTEGRATION_ENCRYPTION_KEY"] ?? "",
      env["SESSION_JWT_SECRET"] ?? "",
    ]);
  });
});

describe("a start without a good INTEGRATION_ENCRYPTION_KEY", () => {
  const cases: [string, string | undefined][] = [
    ["missing", undefined],
    ["empty", ""],
    ["too short", Buffer.alloc(16, 7).toString("base64")],
    ["too long", Buffer.alloc(33, 7).toString("base64")],
    ["no base64", "this is no key, and has spaces in it, too!!"],
    ["a good one and a bad one", `${Buffer.alloc(32, 7).toString("base64")},short`],
  ];
  for (const [name, key] of cases) {
    it(`stops with a message that says how to make one: ${name}`, async () => {
      for (const command of ["api", "worker"]) {
        const { code, output } = await runProgram([command], { ...env, INTEGRATION_ENCRYPTION_KEY: key });
        assert.equal(code, 1, output);
        assert.match(output, /^postern:\n {2}INTEGRATION_ENCRYPTION_KEY .*openssl rand -base64 32$/m);
        if (key !== undefined && key !== "") assertTellsNothing(output, [key]);
      }
    });
  }
});
