import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { temporaryPath } from "../../test/support/temporary.ts";
import { loadCatalog, type Catalog } from "../events/catalog.ts";
import { liveSamples, sampleEvent, welcomeText } from "./welcome.ts";

const entry = (type: string, more: object = {}) => ({
  type,
  title: "",
  description: "",
  group: "Tests",
  payloadShape: { n: 1 },
  ...more,
});
const needs = (name: string) => ({ schema: { type: "object", required: [name] } });

async function catalogOf(...entries: object[]): Promise<Catalog> {
  const file = temporaryPath("catalog.json");
  await writeFile(file, JSON.stringify(entries));
  return loadCatalog(file);
}

const AT = {
  apiUrl: "http://127.0.0.1:8080",
  portalCode: "code",
  receiver: { url: "https://127.0.0.1:8443/webhooks", isMoved: false },
  secretsFile: "data/demo-secrets.json",
  envFile: "data/demo.env",
  dataDir: null,
  today: "2026-01-31",
  tenant: "demo",
  sample: { type: "a.b", pattern: "a.*", data: { n: 1 } },
};
const lineOf = (text: string, words: string) => text.split("\n").find((line) => line.includes(words)) ?? "";

describe("the event of the printed lines", () => {
  it("is an invoice of the built-in catalog", async () => {
    assert.deepEqual(sampleEvent(await loadCatalog(undefined), false), {
      type: "invoice.paid",
      pattern: "invoice.*",
      data: { invoice_id: "inv_1", amount: 12900 },
    });
  });

  it("is the operator's first whose example its schema accepts, in one version that is not deprecated", async () => {
    const catalog = await catalogOf(
      entry("old.one", { deprecated: true }),
      entry("two.versions"),
      entry("two.versions", { version: 2 }),
      entry("wrong.example", needs("m")),
      entry("parcel.box.sent", needs("n")),
    );
    const data = { n: 1 };
    assert.deepEqual(sampleEvent(catalog, true), { type: "parcel.box.sent", pattern: "parcel.*", data });
  });

  it("is of a type without a point where that is the first, and one with a wrong example where there is no other", async () => {
    assert.deepEqual(sampleEvent(await catalogOf(entry("sent")), true), {
      type: "sent",
      pattern: "sent",
      data: { n: 1 },
    });
    const { type } = sampleEvent(
      { ...(await catalogOf(entry("wrong", needs("m")))), faultsOf: () => [{ path: [], message: "" }] },
      true,
    );
    assert.equal(type, "wrong");
  });
});

describe("what lives in the demonstration", () => {
  it("is what can be published, of other kinds than the printed lines, and nothing that Postern tells itself", async () => {
    const catalog = await catalogOf(
      entry("invoice.paid"),
      entry("order.old", { deprecated: true }),
      entry("order.wrong", needs("m")),
      entry("order.placed", needs("n")),
      entry("parcel"),
    );
    const sample = { type: "invoice.sent", pattern: "invoice.*", data: {} };
    assert.deepEqual(liveSamples(catalog, sample), [
      { type: "order.placed", data: { n: 1 } },
      { type: "parcel", data: { n: 1 } },
    ]);
  });
});

describe("what the demonstration prints", () => {
  it("is where everything is, and which token each line needs", () => {
    const text = welcomeText(AT);
    assert.match(text, /^ {2}Portal {7}http:\/\/127\.0\.0\.1:8080\/portal#code=code$/m);
    assert.match(text, /^ {2}Receiver {5}https:\/\/127\.0\.0\.1:8443\/webhooks /m);
    assert.match(text, /^ {2}Secrets {6}data\/demo-secrets\.json /m);
    assert.match(text, /^ {2}Tokens {7}data\/demo\.env {2}\(for 12 hours;/m);
    assert.match(text, /^\. data\/demo\.env$/m);
    assert.doesNotMatch(text, /usual port|DATA_DIR/);
    for (const [path, token] of [
      ["/api/webhooks", "USER_TOKEN"],
      ["/api/events", "SERVICE_TOKEN"],
      ["/api/deliveries", "USER_TOKEN"],
    ] as const) {
      assert.ok(lineOf(text, `${path} `).includes(`"Authorization: Bearer $${token}"`), path);
    }
    assert.ok(lineOf(text, "storage export").includes("--tenant demo --from 2026-01-31 "));
  });

  it("says that the receiver has another port, and names a folder that is not the usual one, blanks and all", () => {
    const text = welcomeText({
      ...AT,
      receiver: { ...AT.receiver, isMoved: true },
      dataDir: "/my data",
      envFile: "/my data/demo.env",
    });
    assert.match(text, /usual port is taken by another program/);
    assert.ok(lineOf(text, "storage export").startsWith("DATA_DIR='/my data' npm run "));
    assert.ok(text.includes("\n. '/my data/demo.env'\n"));
  });

  it("quotes an event's data for the shell and for SQL: a history's !, quotes and backslashes", () => {
    const data = { to: `O'Neill $HOME \`id\` "x"!\\` };
    const text = welcomeText({ ...AT, sample: { ...AT.sample, data } });
    const [, json = ""] = /-d '(.*)'$/.exec(lineOf(text, "/api/events ")) ?? [];
    assert.doesNotMatch(json, /['$`!]/);
    assert.deepEqual(JSON.parse(json), { type: "a.b", data });
    const [, sql = ""] = /'a\.b', '(.*)'\)"$/.exec(lineOf(text, "psql ")) ?? [];
    // As a shell reads it between double quotes.
    const read = sql.replaceAll(/\\(["\\])/g, "$1");
    assert.doesNotMatch(sql, /['$`!]|(?<!\\)(?:\\\\)*"/);
    assert.deepEqual(JSON.parse(read), data);
  });
});
