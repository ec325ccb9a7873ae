/** `npm run build`: the bundle does what the sources do. */
import assert from "node:assert/strict";
import { isAscii } from "node:buffer";
import { spawnSync } from "node:child_process";
import { appendFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { NEEDED_NODE, VERSION } from "../src/shared/version.ts";
import { buildProgram } from "../tools/build.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram, sharedSettings, startProgram } from "./support/program.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { makeTestCa, type TestCa } from "./support/certificates.ts";
import { startRawReceiver, startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";
import { freePort } from "./support/free-port.ts";

const CATALOG = `
- type: parcel.sent
  title: Parcel sent
  description: A parcel left the house.
  group: Parcels
  payloadShape: { weight_g: 1200 }
  schema: { type: object, required: [weight_g] }
`;

let database: TestDatabase;
let ca: TestCa;
let receiver: TlsReceiver;
let folder: string;
let env: Environment;
let built: string;

before(async () => {
  built = await buildProgram();
  database = await createTestDatabase();
  ca = await makeTestCa();
  receiver = await startReceiver({ certificate: await ca.issue() });
  folder = await mkdtemp(join(tmpdir(), "postern-built-"));
  env = {
    ...(await sharedSettings(database.url, ca.caPem)),
    EVENT_CATALOG: join(folder, "catalog.yaml"),
  };
  await writeFile(join(folder, "catalog.yaml"), CATALOG);
});
after(async () => {
  await receiver.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

describe("the built program", () => {
  it("tells its version and its commands", async () => {
    assert.equal((await runProgram(["--version"], {}, built)).output.trim(), VERSION);
    assert.match((await runProgram(["--help"], {}, built)).output, /migrate/);
  });

  it("prints its help without colours where no terminal reads it", async () => {
    const { output } = await runProgram(["--help"], {}, built);
    assert.ok(output.length > 0 && !output.includes("\u001B"), output);
  });

  it("says on an older Node which one it needs", (context) => {
    const older = ["/usr/local/bin/node", "/usr/bin/node"].find(
      (file) =>
        Number.parseInt(spawnSync(file, ["--version"], { encoding: "utf8" }).stdout?.slice(1) ?? "", 10) <
        NEEDED_NODE,
    );
    if (older === undefined) {
      context.skip("DID NOT RUN: this machine has no older Node");
      return;
    }
    const { status, stderr } = spawnSync(older, [built, "up"], { encoding: "utf8" });
    assert.equal(status, 1);
    assert.match(stderr, /^postern needs Node 24 or newer, and this is Node [0-9.]+ \(.*\)\.\n.*\n$/);
  });

  it("is ASCII in what every process loads, or Node holds two bytes for each letter", async () => {
    const folderOf = join(dirname(built), "chunks");
    const shared = (await readdir(folderOf)).filter((name) => /^chunk-.*\.mjs$/.test(name));
    assert.ok(shared.length > 3, `${shared.length} files`);
    for (const name of shared) {
      const text = await readFile(join(folderOf, name));
      assert.ok(isAscii(text), name);
      // `import { z }` instead of `import * as z` would bring zod's texts in all languages.
      assert.ok(!text.includes("Input non valido"), name);
    }
  });

  it("has short lines, for a crash prints one before its error, and assertions that read none", async () => {
    const folderOf = join(dirname(built), "chunks");
    const modules = (await readdir(folderOf)).filter((name) => name.endsWith(".mjs"));
    const texts = await Promise.all(modules.map((name) => readFile(join(folderOf, name), "utf8")));
    for (const text of texts) assert.doesNotMatch(text, /(?:require\(|from ?)"(?:node:)?assert/);
    const lengths = texts.flatMap((text) => text.split("\n").map(({ length }) => length));
    assert.ok(lengths.length > 10_000, `${lengths.length} lines`);
    // A text without a break in it may be longer than most lines.
    const longest = lengths.reduce((one, other) => Math.max(one, other));
    assert.ok(longest < 4_000, `${longest}`);
  });

  it("says in two lines that its migrations are missing", async () => {
    const alone = join(folder, "alone");
    await cp(dirname(built), join(alone, "dist"), { recursive: true });
    const { code, errors } = await runProgram(["migrate"], env, join(alone, "dist", "postern"));
    assert.equal(code, 1);
    assert.match(
      errors,
      /^postern:\n {2}.+\/alone\/migrations is missing\.\n {2}It is part of the program: .*\n$/,
    );
  });

  it("finds its migrations, reads a YAML catalog once, checks a schema, serves reference and portal, and delivers over TLS", async () => {
    await appendFile(join(dirname(built), "reference", "swagger-ui.css"), "/* built */");
    // A pipe can be read once: so is the catalog.
    const pipe = join(folder, "catalog.pipe");
    assert.equal(spawnSync("mkfifo", [pipe]).status, 0);
    const [program] = await Promise.all([
      startProgram(["up"], { ...env, EVENT_CATALOG: pipe }, built),
      writeFile(pipe, CATALOG),
    ]);
    assert.equal((await program.call("GET", "/ready", { as: null })).status, 200);
    const { text: portal } = await program.call("GET", "/portal", { as: null });
    const [script = ""] = /assets\/index-[^"]+\.js/.exec(portal) ?? [];
    assert.equal((await program.call("GET", `/portal/${script}`, { as: null })).status, 200, portal);
    const reference = await program.call("GET", "/reference/swagger-ui.css", { as: null });
    assert.deepEqual([reference.status, reference.text.endsWith("/* built */")], [200, true]);
    const { endpoint } = await createEndpoint(program, { url: receiver.url });
    const refused = await program.call("POST", "/api/events", {
      as: PRODUCER,
      json: { type: "parcel.sent", data: {} },
    });
    assert.equal(refused.status, 400);
    await publish(program, "parcel.sent", { data: { weight_g: 5 } });
    const delivery = await eventually(
      async () => (await listDeliveries(program, endpoint.id, "?status=delivered"))[0],
    );
    assert.equal(delivery.event_type, "parcel.sent");
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  });

  it("logs an answer that fails an assertion of undici as no HTTP, as the sources do", async (test) => {
    // Node would write the assertion's message from the line of its call, which here is a whole file.
    const impossible = await startRawReceiver(
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 099 Impossible\r\n\r\n")),
      { certificate: await ca.issue() },
    );
    test.after(() => impossible.close());
    const program = await startProgram(["up"], env, built);
    const { endpoint } = await createEndpoint(program, { url: impossible.url });
    await publish(program, "parcel.sent", { data: { weight_g: 5 } });
    const delivery = await eventually(
      async () => (await listDeliveries(program, endpoint.id, "?status=failed"))[0],
    );
    assert.equal(delivery.error, "invalid_response");
    assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  });

  it("loads the object store's client when there is a bucket", async () => {
    const store = `s3://bucket?region=us-east-1&endpoint=http://127.0.0.1:${await freePort()}`;
    const credentials = { AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "y" };
    const settings = { ...env, ...credentials, DATA_DIR: folder, OBJECT_STORE_URL: store };
    const { code, output } = await runProgram(["doctor"], settings, built);
    assert.equal(code, 1);
    assert.match(
      output,
      /^fail {2}object store: bucket bucket: the object store cannot list its objects .*ECONNREFUSED/m,
    );
  });
});
