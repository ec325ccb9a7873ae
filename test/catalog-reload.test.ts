/** A changed file of event types takes effect without a restart, and a faulty one does not. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { PRODUCER, type ApiAnswer } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";

let folder: string;
let file: string;
let database: TestDatabase;
let postern: Program;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-catalog-"));
  file = join(folder, "catalog.yaml");
  await writeFile(file, catalogOf("order.placed"));
  database = await createTestDatabase();
  const settings = { ...(await sharedSettings(database.url, "")), EVENT_CATALOG: file };
  postern = await startProgram(["up"], settings);
});
after(async () => {
  await postern.end("SIGTERM");
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Each type with a schema that has an `$id`, which no compiler of schemas takes twice. */
function catalogOf(...types: string[]): string {
  return types
    .map(
      (type) =>
        `- type: ${type}\n  title: T\n  description: D\n  group: G\n  payloadShape: {}\n` +
        `  schema: { $id: "https://example.com/${type}", properties: { count: { type: integer } } }\n`,
    )
    .join("");
}

/** As editors and ConfigMaps do it: the new file takes the old one's name. */
async function replaceBy(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

const publish = (type: string, data: unknown = {}): Promise<ApiAnswer> =>
  postern.call("POST", "/api/events", { as: PRODUCER, json: { type, data } });

async function typesInForce(): Promise<string[]> {
  const { body } = await postern.call("GET", "/api/webhooks/events");
  const types = z.array(z.object({ type: z.string(), group: z.string() })).parse(body);
  return types.filter(({ group }) => group !== "Postern").map(({ type }) => type);
}

const untilInForce = (...types: string[]): Promise<true> =>
  eventually(async () => (await typesInForce()).join() === types.join());

async function publishedFromSql(type: string): Promise<boolean> {
  try {
    await database.pool.query("SELECT postern.publish('acme', $1, '{}')", [type]);
    return true;
  } catch (error) {
    assert.match(String(error), /event type/);
    return false;
  }
}

/** The status of a test of the type, which would be sent to this endpoint. */
async function tested(endpointId: string, type: string): Promise<number> {
  const json = { event_type: type, dry_run: true };
  return (await postern.call("POST", `/api/webhooks/${endpointId}/test`, { json })).status;
}

async function warnings(): Promise<string[]> {
  const answer = await postern.call("GET", "/ready", { as: null });
  assert.equal(answer.status, 200, answer.text);
  return z.object({ warnings: z.array(z.string()).default([]) }).parse(answer.body).warnings;
}

async function isRefused(): Promise<boolean> {
  const { text } = await postern.call("GET", "/metrics", { as: null });
  return /^webhook_catalog_refused (.+)$/m.exec(text)?.[1] === "1";
}

describe("a changed catalog file", () => {
  let endpointId: string;

  it("that was written in place counts for publishing, subscriptions, tests and SQL", async () => {
    assert.equal((await publish("order.sent")).status, 400);
    await writeFile(file, catalogOf("order.placed", "order.sent"));
    await untilInForce("order.placed", "order.sent");
    assert.equal((await publish("order.sent")).status, 202);
    assert.equal((await publish("order.sent", { count: "1" })).status, 400);
    const input = { url: "https://hooks.example.com/", events: ["order.sent"] };
    const created = await postern.call("POST", "/api/webhooks", { json: input });
    assert.equal(created.status, 201);
    endpointId = z.object({ endpoint: z.object({ id: z.string() }) }).parse(created.body).endpoint.id;
    assert.equal(await tested(endpointId, "order.sent"), 200);
    await eventually(() => publishedFromSql("order.sent"));
  });

  it("that took the name of the old one takes a type away from all of them", async () => {
    await replaceBy(catalogOf("order.placed"));
    await untilInForce("order.placed");
    assert.equal((await publish("order.sent")).status, 400);
    const input = { url: "https://hooks.example.com/", events: ["order.sent"] };
    assert.equal((await postern.call("POST", "/api/webhooks", { json: input })).status, 400);
    assert.equal(await tested(endpointId, "order.sent"), 400);
    await eventually(async () => !(await publishedFromSql("order.sent")));
    assert.deepEqual(await warnings(), []);
  });

  it("with a fault is refused, and the catalog before it goes on", async () => {
    await replaceBy(`${catalogOf("order.lost")}- type: 7\n`);
    await eventually(isRefused);
    assert.deepEqual(await typesInForce(), ["order.placed"]);
    assert.equal((await publish("order.placed")).status, 202);
    assert.match(postern.output(), /"fault":"[^"]*catalog\.yaml:7: 1\.type /);
    const [warning, ...others] = await warnings();
    assert.match(warning ?? "", /^the event catalog's file was changed and is refused/);
    assert.deepEqual(others, []);
    await replaceBy(catalogOf("order.placed", "order.found"));
    await untilInForce("order.placed", "order.found");
    await eventually(async () => !(await isRefused()));
    assert.deepEqual(await warnings(), []);
  });

  it("that is missing is told too, and ends nothing", async () => {
    await rm(file);
    await eventually(isRefused);
    assert.equal((await publish("order.found")).status, 202);
    await writeFile(file, catalogOf("order.found"));
    await untilInForce("order.found");
    assert.deepEqual(await warnings(), []);
  });

  it("behind a symbolic link that moves, as in a ConfigMap, is read", async () => {
    for (const [version, type] of [
      ["v1", "map.one"],
      ["v2", "map.two"],
    ] as const) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "catalog.yaml"), catalogOf(type));
    }
    const data = join(folder, "..data");
    await symlink("v1", data);
    await symlink("..data/catalog.yaml", `${file}.new`);
    await rename(`${file}.new`, file);
    await untilInForce("map.one");
    await symlink("v2", `${data}.new`);
    await rename(`${data}.new`, data);
    await untilInForce("map.two");
  });
});
