/** `npm start` as a newcomer meets it: the printed lines are pasted into a shell as they are. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import * as z from "zod";
import { tokenObject } from "../src/api/portal-schemas.ts";
import { endpointObject, listedDeliveryObject, publishedObject } from "../src/api/schemas.ts";
import { exportObject } from "../src/api/storage-schemas.ts";
import type { Environment } from "../src/config.ts";
import { openSigningSecret } from "../src/endpoints/signing-secret.ts";
import { parseTenantId } from "../src/shared/id.ts";
import { makeSecretBox } from "../src/shared/secret-box.ts";
import { ndjsonRows, unpack } from "./support/exports.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, SOURCES, startProgram, type Program } from "./support/program.ts";
import { shellWord } from "../src/shared/shell-word.ts";
import { missingCommands } from "./support/missing-commands.ts";
import { eventually } from "./support/eventually.ts";

const run = promisify(execFile);
const DAY_MS = 86_400_000;

const created = z.object({ endpoint: endpointObject });
const endpointList = z.object({ endpoints: z.array(endpointObject) });
const deliveryList = z.object({ deliveries: z.array(listedDeliveryObject) });

const weekOfEndpoints = z.object({
  endpoints: z.array(z.object({ delivered: z.int(), failed: z.int(), pending: z.int() })),
});
const weekOfCauses = z.object({ causes: z.array(z.object({ cause: z.string() })) });
const exportList = z.object({ exports: z.array(exportObject) });
const audited = z.object({ entries: z.array(z.object({ action: z.string() })) });

async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "postern-demo-"));
  // Open to the user as whom PostgreSQL runs when the tests run as root.
  await chmod(dataDir, 0o711);
  return dataDir;
}

const started: Program[] = [];

async function startDemo(dataDir: string, env: Environment = {}): Promise<Program> {
  const demo = await startProgram(["up", "--demo"], { PORT: "0", DATA_DIR: dataDir, ...env }, SOURCES);
  started.push(demo);
  return demo;
}

/** The lines of calls that the welcome text tells the newcomer to paste. */
function linesToPaste(demo: Program): string[] {
  return demo
    .output()
    .split("\n")
    .filter((line) => line.startsWith("curl "));
}

/** In a terminal in which the tokens' line was pasted first. */
async function paste(demo: Program, line: string | undefined): Promise<unknown> {
  const tokens = demo
    .output()
    .split("\n")
    .find((text) => text.startsWith(". "));
  const { stdout } = await run("bash", ["-c", `${tokens ?? "false"} && ${line ?? "false"}`]);
  return JSON.parse(stdout);
}

/** Follows the welcome text to its end; answers the endpoint that it made. */
async function followWelcome(demo: Program): Promise<{ id: string }> {
  const lines = linesToPaste(demo);
  assert.equal(lines.length, 3, demo.output());
  const [createLine, publishLine, readLine] = lines;
  const { endpoint } = created.parse(await paste(demo, createLine));
  const event = publishedObject.parse(await paste(demo, publishLine));
  assert.equal(event.deliveries, 1);
  await eventually(async () => demo.output().includes("receiver: "));
  assert.match(demo.output(), /^receiver: invoice\.paid arrived, signature right: .*"inv_1"/m);
  const delivery = await eventually(async () => {
    const { deliveries } = deliveryList.parse(await paste(demo, readLine));
    return deliveries.find(({ event_id, status }) => event_id === event.id && status !== "pending");
  });
  assert.deepEqual(
    [delivery.status, delivery.event_id, delivery.endpoint_id],
    ["delivered", event.id, endpoint.id],
  );
  return endpoint;
}

/** The endpoints as the tenant's user reads them, with the token out of the first printed line. */
async function listEndpoints(demo: Program): Promise<string[]> {
  const line = (linesToPaste(demo)[0] ?? "").replace(/ -d .*$/, "");
  return endpointList.parse(await paste(demo, line)).endpoints.map(({ id }) => id);
}

/** The code of the portal's link. */
function portalCode(demo: Program): string {
  const [, code] = /^ {2}Portal +http:\S+\/portal#code=(\S+)$/m.exec(demo.output()) ?? [];
  assert.ok(code !== undefined, demo.output());
  return code;
}

/** Ends it as Ctrl-C does; nothing in its log may have gone wrong. */
async function endQuietly(demo: Program): Promise<void> {
  assert.deepEqual(await demo.end("SIGINT"), { code: 0, signal: null });
  assert.doesNotMatch(demo.output(), /WRONG|"level":(?:40|50|60)|Error/);
}

// One that a failed test left would keep this file from ending.
after(async () => {
  for (const demo of started) await demo.end("SIGKILL");
});

describe("postern up --demo", { skip: missingCommands("curl") }, () => {
  let database: TestDatabase;
  let dataDir: string;
  let demo: Program;

  before(async () => {
    database = await createTestDatabase();
    dataDir = await makeDataDir();
    const env = {
      DATABASE_URL: database.url,
      TRUSTED_PROXIES: "127.0.0.0/8",
      SESSION_ISSUER: "https://login.example.com/",
      SESSION_AUDIENCE: "postern",
    };
    demo = await startDemo(dataDir, env);
  });
  after(async () => {
    await demo.end("SIGKILL");
    await database.drop();
    await rm(dataDir, { recursive: true });
  });

  it("begins with a week of four endpoints, an export and an audit log, and goes on by itself", async () => {
    assert.doesNotMatch(demo.output(), /demonstration: no/);
    const [, , readLine = ""] = linesToPaste(demo);
    const read = (path: string) => paste(demo, readLine.replace("/api/deliveries", path));

    // A window ends with the day that is under way, and the week began seven times 24 hours ago.
    const { endpoints } = weekOfEndpoints.parse(await read("'/api/stats/endpoints?window=30d'"));
    assert.equal(endpoints.length, 4);
    const total = endpoints.reduce((sum, { delivered, failed }) => sum + delivered + failed, 0);
    assert.ok(total > 18_000 && total < 23_000, `${total} attempts`);
    assert.ok(endpoints.every(({ delivered, failed }) => delivered > 0 && failed > 0));
    assert.ok(endpoints.some(({ pending }) => pending > 0));
    const { causes } = weekOfCauses.parse(await read("/api/stats/causes"));
    const found = new Set(causes.map(({ cause }) => cause));
    for (const cause of ["connect", "http_500", "http_503", "reset"]) assert.ok(found.has(cause), cause);

    const { exports } = exportList.parse(await read("/api/storage/exports"));
    const [made, ...others] = exports;
    assert.ok(made !== undefined && others.length === 0);
    assert.equal(Date.parse(made.to) - Date.parse(made.from), DAY_MS);
    const { entries } = audited.parse(await read("/api/audit"));
    assert.equal(entries.filter(({ action }) => action === "endpoint.created").length, 4);

    const newest = async () => deliveryList.parse(await read("'/api/deliveries?limit=1'")).deliveries[0]?.id;
    const earlier = await newest();
    await eventually(async () => (await newest()) !== earlier);
    assert.doesNotMatch(demo.output(), /^receiver:/m);
  });

  it("gave each endpoint its share of the types, and signed what it sent with its secret", async () => {
    const { rows } = await database.pool.query(
      `SELECT DISTINCT ON (endpoints.id) endpoints.id, split_part(url, '/', 5) AS kind, events AS patterns,
          secret, request_headers AS headers, sent_at, body
        FROM postern.endpoints JOIN postern.deliveries ON endpoint_id = endpoints.id
          JOIN postern.events ON event_id = events.id
        WHERE url LIKE '%/webhooks/%' ORDER BY endpoints.id, deliveries.id`,
    );
    const kinds = new Map<string, string[]>(rows.map(({ kind, patterns }) => [kind, patterns]));
    const all = kinds.get("healthy") ?? [];
    assert.ok(all.length > 1 && !all.includes("invoice.*"), all.join());
    assert.deepEqual(
      kinds,
      new Map([
        ["healthy", all],
        ["slow", all.slice(0, 1)],
        ["flaky", all],
        ["dead", all.slice(-1)],
      ]),
    );
    const file: unknown = JSON.parse(await readFile(join(dataDir, "demo-secrets.json"), "utf8"));
    const box = makeSecretBox([Buffer.from(Object(file).INTEGRATION_ENCRYPTION_KEY, "base64")]);
    const tenantId = parseTenantId("demo");
    assert.ok(tenantId !== null);
    for (const { id, kind, secret, headers, sent_at, body } of rows) {
      // Its secret was rotated since, for the audit log.
      if (kind === "slow") continue;
      const key = openSigningSecret(box, secret, { tenantId, endpointId: id });
      const timestamp = String(Math.floor(sent_at.getTime() / 1000));
      const signature = createHmac("sha256", key).update(`${timestamp}.${body}`).digest("hex");
      assert.equal(headers["X-Service-Timestamp"], timestamp, kind);
      assert.equal(headers["X-Service-Signature"], `sha256=${signature}`, kind);
    }
  });

  it("keeps its secrets and tokens in files that only their owner can read", async () => {
    for (const file of ["demo-secrets.json", "demo.env"]) {
      assert.equal((await stat(join(dataDir, file))).mode & 0o777, 0o600);
    }
  });

  it("prints a link that opens the portal as often as one likes, from this machine", async () => {
    const code = portalCode(demo);
    for (let n = 0; n < 2; n++) {
      const opened = await demo.call("POST", "/api/portal/sessions", { as: null, json: { code } });
      const { token } = tokenObject.parse(opened.body);
      const headers = { authorization: `Bearer ${token}` };
      const { body } = await demo.call("GET", "/api/session", { as: null, headers });
      const { tenant, role } = z.object({ tenant: z.string(), role: z.string() }).parse(body);
      assert.deepEqual({ tenant, role }, { tenant: "demo", role: "owner" });
    }
    const wrong = { code: `${code.slice(0, -1)}${code.endsWith("A") ? "B" : "A"}` };
    assert.equal((await demo.call("POST", "/api/portal/sessions", { as: null, json: wrong })).status, 401);
  });

  it("takes that link from no other machine", async () => {
    const headers = { "x-forwarded-for": "192.0.2.7" };
    const json = { code: portalCode(demo) };
    const { status } = await demo.call("POST", "/api/portal/sessions", { as: null, json, headers });
    assert.equal(status, 401);
  });

  it("leads from three pasted lines to a delivery in the log, and one Ctrl-C ends it", async () => {
    await followWelcome(demo);
    await endQuietly(demo);
  });
});

describe("postern up --demo on a database of its own", { skip: missingCommands("curl") }, () => {
  let dataDir: string;
  let demo: Program;
  let endpoint: { id: string };

  before(async () => {
    dataDir = await makeDataDir();
    demo = await startDemo(dataDir);
  });
  after(async () => {
    await demo.end("SIGKILL");
    await rm(dataDir, { recursive: true });
  });

  it("leads by its lines to a delivery, and to the log in an archive with no setting but its folder", async () => {
    endpoint = await followWelcome(demo);
    assert.doesNotMatch(demo.output(), /DATABASE_URL is not set/);
    const line = demo
      .output()
      .split("\n")
      .find((text) => text.includes("npm run -s postern"));
    const archive = join(dataDir, "log.zip");
    const { stdout } = await run("bash", ["-c", line?.replace("log.zip", shellWord(archive)) ?? "false"], {
      env: { PATH: process.env["PATH"] },
    });
    assert.match(stdout, /^\d+ deliveries in \d+ bytes/);
    const files = await unpack(await readFile(archive));
    const types = ndjsonRows(files).map((row) => row["event_type"]);
    assert.equal(types.filter((type) => type === "invoice.paid").length, 1);
  });

  it("lends its settings to the commands beside it", async () => {
    for (const command of [["config"], ["doctor"], ["migrate"], ["token", "--tenant", "demo"]]) {
      const { code, output } = await runProgram(command, { DATA_DIR: dataDir });
      // doctor warns of what a demonstration may have; without name servers it fails, which is this machine's affair.
      const isFine = command[0] === "doctor" ? !/^fail {2}(?!name servers)/m.test(output) : code === 0;
      assert.ok(isFine, `${command.join(" ")}: ${output}`);
    }
    const publish = ["publish", "document.signed", "--tenant", "demo", "--url", demo.url];
    const { code, output } = await runProgram(publish, { DATA_DIR: dataDir });
    assert.equal(code, 0, output);
    publishedObject.parse(JSON.parse(output));
  });

  it("finds the data again at the next start", async () => {
    await endQuietly(demo);
    demo = await startDemo(dataDir);
    const [newest, ...others] = await listEndpoints(demo);
    assert.deepEqual([newest, others.length], [endpoint.id, 4]);
    const readLine = `${linesToPaste(demo)[2]}?endpoint_id=${endpoint.id}`.replace(/( -H .*)(\?.*)$/, "$2$1");
    assert.equal(deliveryList.parse(await paste(demo, readLine)).deliveries.length, 1);
    await endQuietly(demo);
  });
});

describe("postern up --demo with something of its operator's", { skip: missingCommands("curl") }, () => {
  let database: TestDatabase;
  let dataDir: string;
  beforeEach(async () => {
    database = await createTestDatabase();
    dataDir = await makeDataDir();
  });
  afterEach(async () => {
    for (const demo of started.splice(0)) await demo.end("SIGKILL");
    await database.drop();
    await rm(dataDir, { recursive: true });
  });

  it("prints lines that an operator's own catalog accepts", async () => {
    const catalog = join(dataDir, "catalog.yaml");
    await writeFile(
      catalog,
      `- { type: parcel.lost, title: Lost, description: "", group: Parcels, payloadShape: {}, deprecated: true }
- type: parcel.sent
  title: Sent
  description: ""
  group: Parcels
  payloadShape: { to: "O'Neill $HOME \`id\` \\"x\\"!" }
  schema: { type: object, required: [to] }
`,
    );
    const demo = await startDemo(dataDir, { DATABASE_URL: database.url, EVENT_CATALOG: catalog });
    const [createLine, publishLine] = linesToPaste(demo);
    assert.deepEqual(created.parse(await paste(demo, createLine)).endpoint.events, ["parcel.*"]);
    assert.equal(publishedObject.parse(await paste(demo, publishLine)).deliveries, 1);
    await eventually(async () => demo.output().includes("receiver: parcel.sent arrived, signature right"));
    assert.deepEqual(await demo.end("SIGINT"), { code: 0, signal: null });
  });

  it("says so when its receiver's port is taken", async (context) => {
    const taken = createServer().listen(8443, "127.0.0.1");
    // Another test's demonstration may have it: then it is taken as well.
    taken.on("error", () => undefined);
    context.after(() => taken.close());
    const told = /usual port is taken by another program/;
    let demo = await startDemo(dataDir, { DATABASE_URL: database.url });
    // The other one ended just before, and this one has the port.
    if (!told.test(demo.output())) {
      const another = await createTestDatabase();
      context.after(() => another.drop());
      demo = await startDemo(join(dataDir, "beside"), { DATABASE_URL: another.url });
    }
    assert.match(demo.output(), told);
    await followWelcome(demo);
    assert.deepEqual(await demo.end("SIGINT"), { code: 0, signal: null });
  });
});
