/** `postern listen`, behind which an example receiver runs, and the pages that tell of it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, beforeEach, describe, it } from "node:test";
import { generateSigningSecret } from "../src/outbound/signature.ts";
import { startExample, type ExampleReceiver } from "./support/example-receivers.ts";
import { blocksOf, commandsOf, folderOfCommand, runShell } from "./support/how-to.ts";
import { runProgram, runUnread, startTask } from "./support/program.ts";
import { clientOf } from "./support/pull.ts";
import { MEMBER, OWNER } from "./support/calls.ts";
import { missingCommands } from "./support/missing-commands.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { freePort } from "./support/free-port.ts";
import { listen as listenAt } from "./support/tls-receiver.ts";
import { first, publish, webhooksOf, type Webhooks } from "./support/webhooks.ts";

let service: TestService;
let webhooks: Webhooks;
let folder: string;
const tasks = new Set<ReturnType<typeof startTask>>();

before(async () => {
  service = await startTestService({ refusesAsDocumented: true, env: { RETRY_SCHEDULE: "0s,1h" } });
  webhooks = webhooksOf(service);
  folder = await folderOfCommand();
});
after(async () => {
  await Promise.all([...tasks].map((task) => task.end("SIGKILL")));
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  for (const { id } of await webhooks.list()) await webhooks.remove(id);
});

const shell = (command: string, variables: Record<string, string>) =>
  runShell(command, { folder, env: { ...service.env, ...variables } });

/** Starts `postern listen` and waits until its endpoint is there. */
async function listen(args: readonly string[], env: Record<string, string | undefined> = service.env) {
  const task = startTask(["listen", "--url", service.url, ...args], env);
  tasks.add(task);
  const endpoint = await eventually(async () => (await webhooks.list()).find(({ temporary }) => temporary));
  return { task, endpoint };
}

/** The words of a page's command behind `postern listen`, for a receiver at this port. */
function argumentsOf(command: string, port: number, secret: string): string[] {
  const [head, ...words] = command.trim().split(" ").slice(1);
  assert.equal(head, "listen");
  return words.map((word) =>
    word.replaceAll('"', "").replace("localhost:3000", `localhost:${port}`).replace("$SECRET", secret),
  );
}

describe("docs/how-to/develop-a-receiver.md", () => {
  const secret = generateSigningSecret();
  let receiver: ExampleReceiver;
  before(async () => {
    receiver = await startExample("node", [secret]);
  });
  after(() => receiver.stop());

  it("forwards what a receiver of `receivers/` verifies, and deletes its endpoint when it ends", async () => {
    const [start, forward, publishing, ...others] = await commandsOf("develop-a-receiver.md");
    assert.match(start ?? "", /^cd receivers\/node && .* node receiver\.mjs$/m);
    assert.equal(others.length, 1);
    const { task, endpoint } = await listen(argumentsOf(forward ?? "", receiver.port, secret));
    assert.deepEqual(
      [endpoint.mode, endpoint.url, endpoint.events],
      ["pull", "https://example.com/listen", ["invoice.*"]],
    );
    const command = (publishing ?? "").replace("postern publish", `postern publish --url ${service.url}`);
    const published = await shell(command, {});
    const { id } = JSON.parse(published.stdout);
    await eventually(async () => receiver.accepted(id) === 1);
    const [delivered] = await webhooks.waitFor(endpoint.id, "delivered");
    assert.equal(delivered?.event_id, id);
    const line = new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  invoice\\.paid  ${id}  204  \\d+ ms$`, "m");
    await eventually(async () => line.test(task.output()));
    assert.equal(await task.end("SIGINT"), 0);
    assert.deepEqual(await webhooks.list(), []);
    assert.equal(task.errors().includes(secret), false);
  });

  it("begins with past events, as lines of JSON", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push((await publish(service, { type: "invoice.paid" })).id);
    await publish(service, { type: "customer.created" });
    const replaying = (await commandsOf("develop-a-receiver.md"))[3] ?? "";
    const { task } = await listen(argumentsOf(replaying, receiver.port, secret));
    const lines = await eventually(async () => {
      const found = task
        .output()
        .split("\n")
        .filter((line) => line.startsWith("{"));
      return found.length === 10 && found.map((line) => JSON.parse(line));
    });
    assert.deepEqual(new Set(lines.map(({ event_id }) => event_id)), new Set(ids.slice(2)));
    assert.ok(
      lines.every(({ status, error, type }) => status === 204 && error === null && type === "invoice.paid"),
    );
    assert.equal(await task.end("SIGTERM"), 0);
  });
});

describe("postern listen", () => {
  it("reports another answer than 2xx as refused, with the beginning of its body", async () => {
    const refusing = createServer((request, response) => {
      request.resume().once("end", () => response.writeHead(500).end("no such ledger"));
    }).listen(0, "127.0.0.1");
    await once(refusing, "listening");
    const address = refusing.address();
    assert.ok(typeof address === "object" && address !== null);
    const { task, endpoint } = await listen([
      "--tenant",
      "acme",
      "--forward",
      `http://127.0.0.1:${address.port}/`,
      "--events",
      "customer.*, invoice.paid",
    ]);
    assert.deepEqual(endpoint.events, ["customer.*", "invoice.paid"]);
    await publish(service, { type: "invoice.paid" });
    const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
    assert.deepEqual([failed.error, failed.response_body], ["refused", "500 no such ledger"]);
    // It prints once the service has answered its acknowledgement, and through a pipe.
    await eventually(async () => /^\S+ {2}invoice\.paid {2}\S+ {2}500 {2}\d+ ms$/m.test(task.output()));
    assert.match(task.errors(), /^signing secret: whsec_/m);
    assert.equal(await task.end("SIGINT"), 0);
    refusing.close();
  });

  it("ends when nobody reads on what it prints, and deletes its endpoint", async () => {
    const forward = `http://localhost:${await freePort()}/`;
    const args = ["listen", "--url", service.url, "--tenant", "acme", "--forward", forward];
    const ended = runUnread(args, service.env);
    await eventually(async () => (await webhooks.list()).some(({ temporary }) => temporary));
    await publish(service, { type: "invoice.paid" });
    const { code, errors } = await ended;
    assert.equal(code, 0, errors);
    assert.doesNotMatch(errors, /EPIPE/);
    assert.deepEqual(await webhooks.list(), []);
  });

  it("says what to do where nothing listens", async () => {
    const port = await freePort();
    const { task, endpoint } = await listen(["--tenant", "acme", "--forward", `http://localhost:${port}/`]);
    await publish(service, { type: "invoice.paid" });
    const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
    assert.equal(failed.response_body, "ECONNREFUSED");
    await eventually(async () =>
      task.errors().includes(`nothing listens at http://localhost:${port}: start your receiver there`),
    );
    await task.end("SIGINT");
  });

  it("takes a user's token instead of a secret", async () => {
    const { SESSION_JWT_SECRET: _secret, INTEGRATION_ENCRYPTION_KEY: _key, ...others } = service.env;
    const args = ["--forward", "http://127.0.0.1:9/"];
    const env = { ...others, POSTERN_TOKEN: await service.token(OWNER) };
    const { task } = await listen(args, env);
    assert.equal(await task.end("SIGINT"), 0);
    const asMember = { ...others, POSTERN_TOKEN: await service.token(MEMBER) };
    const refused = await runProgram(["listen", "--url", service.url, ...args], asMember);
    assert.deepEqual([refused.code, refused.output.trim()], [1, '{"error":"Forbidden"}']);
    const without = await runProgram(["listen", "--url", service.url, ...args], others);
    assert.match(without.output, /Whose events\?\n.*--tenant.*POSTERN_TOKEN/);
    const nowhere = await runProgram(["listen", ...args], env);
    assert.match(nowhere.output, /--url is missing/);
  });

  it("forwards to this machine alone, and refuses a wrong replay", async () => {
    const elsewhere = [
      "http://example.com/",
      "https://localhost/",
      "http://10.0.0.1/",
      "http://127.0.0.1.example.com/",
      "http://user@localhost/",
      "localhost:3000",
    ];
    for (const url of elsewhere) {
      const { code, output } = await runProgram(
        ["listen", "--tenant", "acme", "--forward", url],
        service.env,
      );
      assert.equal(code, 1);
      assert.match(output, /is no http URL of this machine/, url);
    }
    for (const replay of ["10", "last:0", "last:101", "last:x"]) {
      const args = ["listen", "--tenant", "acme", "--forward", "http://localhost:1/", "--replay", replay];
      assert.match((await runProgram(args, service.env)).output, /is not last: and a number/, replay);
    }
    assert.deepEqual(await webhooks.list(), []);
  });
});

describe("docs/how-to/receive-behind-a-firewall.md", () => {
  it("makes an endpoint, fetches and acknowledges", { skip: missingCommands("curl") }, async () => {
    const [create, fetching, acknowledge, ...others] = await commandsOf("receive-behind-a-firewall.md");
    assert.equal(others.length, 0);
    const variables = { POSTERN: service.url, TOKEN: await service.token(OWNER) };
    const made = JSON.parse((await shell(create ?? "", variables)).stdout);
    const ENDPOINT: string = made.endpoint.id;
    await publish(service, { type: "invoice.paid" });
    await publish(service, { type: "invoice.paid" });
    const lease = JSON.parse((await shell(fetching ?? "", { ...variables, ENDPOINT })).stdout);
    const [one, other] = lease.events;
    const given = { ...variables, ENDPOINT, LEASE: lease.lease_id, ID: one.id, OTHER: other.id };
    const acked = JSON.parse((await shell(acknowledge ?? "", given)).stdout);
    assert.deepEqual(acked, { delivered: 1, failed: 1, late: [] });
  });

  it("has a client that handles events until it is stopped", async () => {
    const code = first(await blocksOf("receive-behind-a-firewall.md", "js"));
    const { endpoint } = await webhooks.create({ mode: "pull", events: ["invoice.*"] });
    const env = { POSTERN: service.url, TOKEN: await service.token(OWNER), ENDPOINT: endpoint.id };
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], { env });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    const { id } = await publish(service, { type: "invoice.paid" });
    const [delivered] = await webhooks.waitFor(endpoint.id, "delivered");
    assert.equal(delivered?.event_id, id);
    await eventually(async () => output !== "");
    assert.equal(output, `${id} invoice.paid\n`);
    child.kill();
    await once(child, "exit");
  });

  it("has a client that pauses, and goes on, while Postern is away or its endpoint is disabled", async () => {
    const code = first(await blocksOf("receive-behind-a-firewall.md", "js"));
    const events = [{ id: "1", headers: { "webhook-id": "e" }, body: '{"event":"invoice.paid"}' }];
    const answers: (number | string)[] = [
      409,
      503,
      "cut",
      409,
      429,
      JSON.stringify({ lease_id: "l", events }),
    ];
    const asked: string[] = [];
    const pretended = createServer((request, response) => {
      asked.push(request.url?.split("/").at(-1) ?? "");
      const answer = answers.shift() ?? 401;
      if (answer === "cut") request.destroy();
      else if (typeof answer === "number") response.writeHead(answer).end("{}");
      else response.end(answer);
    });
    const POSTERN = `http://127.0.0.1:${await listenAt(pretended)}`;
    const CODE = code.replace("(resolve, 5000)", '(resolve, console.log("pause"))');
    const run = '"$NODE" --input-type=module -e "$CODE"';
    const variables = { NODE: process.execPath, POSTERN, TOKEN: "t", ENDPOINT: "e", CODE };
    const { stdout, stderr } = await shell(run, variables);
    pretended.close();
    assert.equal(stdout, `${"pause\n".repeat(5)}e invoice.paid\n`);
    assert.match(stderr, /Error: 401 \{\}/);
    assert.deepEqual(asked, [...Array.from({ length: 6 }, () => "leases"), "acks"]);
  });
});

describe("a temporary endpoint", () => {
  it("is pull from the start and for good", async () => {
    const json = { url: service.receiver.url, temporary: true };
    const answer = await webhooks.call("POST", "", { json });
    assert.deepEqual([answer.status, Object(answer.body).issues[0].path], [400, ["mode"]]);
    const { endpoint } = await webhooks.create({ temporary: true, mode: "pull" });
    const changed = await webhooks.call("PATCH", `/${endpoint.id}`, { json: { mode: "push" } });
    assert.deepEqual(
      [changed.status, changed.body],
      [409, { error: "A temporary endpoint cannot become push" }],
    );
    // Sent back as it was read.
    assert.deepEqual(
      { ...(await webhooks.update(endpoint.id, endpoint)), updated_at: null },
      { ...endpoint, updated_at: null },
    );
  });

  it("is deleted by a worker after an hour without a call, which each call puts off", async () => {
    const { pool } = service.database;
    const abandoned = (await webhooks.create({ temporary: true, mode: "pull" })).endpoint.id;
    const called = (await webhooks.create({ temporary: true, mode: "pull" })).endpoint.id;
    const lasting = (await webhooks.create({ mode: "pull" })).endpoint.id;
    await pool.query(
      `UPDATE postern.endpoints SET temporary_until = now() + CASE id WHEN $1 THEN '-1 s' ELSE '1 min' END::interval
        WHERE temporary_until IS NOT NULL`,
      [abandoned],
    );
    await clientOf(service, called).lease();
    const { rows } = await pool.query(
      "SELECT temporary_until > now() + interval '59 min' AS is_put_off FROM postern.endpoints WHERE id = $1",
      [called],
    );
    assert.deepEqual(rows, [{ is_put_off: true }]);
    // It looks once a minute, and as it starts.
    const { database, receiver, env } = service;
    const worker = await startTestService({
      roles: ["worker"],
      database,
      receiver,
      env: { ...env, PORT: "0" },
    });
    await eventually(async () => !(await webhooks.list()).some(({ id }) => id === abandoned));
    await worker.stop();
    assert.deepEqual((await webhooks.list()).map(({ id }) => id).sort(), [called, lasting].sort());
    const audit = await service.call("GET", `/api/audit?endpoint_id=${abandoned}`);
    const entry = first<Record<string, unknown>>(Object(audit.body).entries);
    assert.deepEqual([entry["action"], Object(entry["actor"]).type], ["endpoint.deleted", "postern"]);
  });
});
