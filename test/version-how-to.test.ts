/** docs/how-to/version-an-event-type.md, step by step, as it stands there. */
import assert from "node:assert/strict";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { blocksOf, commandsOf, folderOfCommand, runShell } from "./support/how-to.ts";
import { OWNER, PRODUCER } from "./support/calls.ts";
import { missingCommands } from "./support/missing-commands.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { webhooksOf } from "./support/webhooks.ts";

const PAGE = "version-an-event-type.md";
let service: TestService;
let folder: string;
let file: string;

before(async () => {
  folder = await folderOfCommand();
  file = join(folder, "catalog.yaml");
  const [both = ""] = await blocksOf(PAGE, "yaml");
  const [first = ""] = both.split(/^- (?=type: invoice.paid\n {2}version)/m);
  await writeFile(file, first);
  service = await startTestService({ env: { EVENT_CATALOG: file } });
});
after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

async function replaceBy(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

const list = () => service.call("GET", "/api/webhooks/events");

const versionsNow = async (): Promise<string> =>
  JSON.parse((await list()).text)
    .filter(({ type }: { type: string }) => type === "invoice.paid")
    .map(({ version, preview }: { version: number; preview: boolean }) => `${version}${preview ? "?" : ""}`)
    .join();

const dataAt = (path: string): unknown[] =>
  service.receiver.requests
    .filter((request) => request.path === path)
    .map(({ body }) => JSON.parse(body.toString()).data);

const came = (path: string, data: unknown[]) =>
  eventually(async () => dataAt(path).length === data.length && (assert.deepEqual(dataAt(path), data), true));

it(
  "adds a version, publishes it, makes it the newest and ends the old one",
  { skip: missingCommands("curl") },
  async () => {
    const [both = "", ending = "", ...otherYaml] = await blocksOf(PAGE, "yaml");
    const [look = "", publish = "", choose = "", test = "", ...others] = await commandsOf(PAGE);
    assert.deepEqual([otherYaml, others], [[], []]);
    const webhooks = webhooksOf(service);
    const { origin } = new URL(service.receiver.url);
    const create = async (path: string, events: string[]) =>
      (await webhooks.create({ url: `${origin}${path}`, events })).endpoint.id;
    await create("/newest", ["invoice.*"]);
    await create("/one", ["invoice.paid@1"]);
    const variables = {
      POSTERN: service.url,
      TOKEN: await service.token(OWNER),
      SERVICE_TOKEN: await service.token(PRODUCER),
      ENDPOINT: await create("/chosen", ["invoice.*"]),
    };
    const shell = (command: string) => runShell(command, { folder, env: { ...service.env, ...variables } });
    const looked = async (text: string): Promise<string> => {
      await writeFile(join(folder, "next.yaml"), text);
      return (await shell(look)).stdout;
    };
    const [one, two] = [
      { invoice_id: "inv_1", amount: 12900 },
      { invoice_id: "inv_1", total: { amount: 12900, currency: "EUR" } },
    ];
    assert.match(await looked(both), /^next\.yaml: \d+ types in \d+ versions.*\nadded +invoice\.paid@2\n$/);
    await replaceBy(both);
    await eventually(async () => (await versionsNow()) === "1,2?");
    assert.equal(JSON.parse((await shell(publish)).stdout).deliveries, 3);
    await came("/newest", [one]);
    assert.deepEqual(JSON.parse((await shell(choose)).stdout).endpoint.events, ["invoice.paid@2"]);
    await came("/chosen", [one]);
    assert.equal(JSON.parse((await shell(test)).stdout).status, "test");
    await came("/chosen", [one, two]);

    const renewed = both.replace("  preview: true\n", "");
    assert.match(await looked(renewed), /\nnewest +invoice\.paid@2: breaks receivers\n {2}data\.amount /);
    await replaceBy(renewed);
    await eventually(async () => (await versionsNow()) === "1,2");
    assert.equal(JSON.parse((await shell(publish)).stdout).deliveries, 3);
    await came("/newest", [one, two]);
    await came("/one", [one, one]);
    await came("/chosen", [one, two, two]);
    const json = { type: "invoice.paid", data: two };
    assert.equal((await service.call("POST", "/api/events", { as: PRODUCER, json })).status, 400);

    await replaceBy(
      renewed.replace("- type: invoice.paid\n  version: 2", `${ending}- type: invoice.paid\n  version: 2`),
    );
    await eventually(async () => (await list()).headers.get("sunset") === "Tue, 01 Jul 2031 00:00:00 GMT");
    const [, onlySecond = ""] = renewed.split(/^(?=- type: invoice.paid\n {2}version: 2)/m);
    assert.match(await looked(onlySecond), /\nremoved +invoice\.paid@1: breaks receivers\n/);
    await replaceBy(onlySecond);
    await eventually(async () => (await versionsNow()) === "2");
    const last = await service.call("POST", "/api/events", { as: PRODUCER, json });
    assert.deepEqual([last.status, JSON.parse(last.text).deliveries], [202, 2]);
  },
);
