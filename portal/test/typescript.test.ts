/** TypeScript types of events: as they are written, and as the compiler reads them. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { builtInCatalog } from "../../src/events/built-in-catalog.ts";
import { typeScriptOf } from "../src/pages/events/typescript.ts";
import { CATALOG } from "./support/event-catalog.ts";

function typesOf(schema: object, type = "a.b"): string {
  return typeScriptOf({ type, version: 1, description: "", payloadShape: {}, schema: { ...schema } });
}

const dataOf = (schema: object): string => /export type AB = (.*);\n/s.exec(typesOf(schema))?.[1] ?? "";

describe("the type of an event", () => {
  it("is made of its schema, with the whole body and the schema's definitions", () => {
    const [, placed] = CATALOG;
    assert.ok(placed !== undefined);
    assert.equal(
      typeScriptOf(placed),
      `/** An order was placed, with its lines. */
export type OrderPlacedV2Event = {
  id: string;
  event: "order.placed";
  created_at: string;
  data: OrderPlacedV2;
};

export type OrderPlacedV2 = {
  /** Never used twice. */
  order_id: string;
  total?: number | null;
  state?: "open" | "paid";
  lines: OrderPlacedV2Line[];
};

export type OrderPlacedV2Line = {
  sku: string;
};
`,
    );
  });

  it("is made of the example where there is no schema, and no text of others ends a comment", () => {
    const [, , shipped] = CATALOG;
    assert.ok(shipped !== undefined);
    const code = typeScriptOf(shipped);
    assert.match(code, /"tracking-code": null;\n {2}parcels: unknown\[\];/);
    assert.equal(code.split("*/").length, 2);
  });

  it("knows the words of JSON Schema", () => {
    assert.equal(dataOf({ const: 1 }), "1");
    assert.equal(
      dataOf({ anyOf: [{ type: "string" }, { type: "integer" }, { type: "number" }] }),
      "string | number",
    );
    assert.equal(dataOf({ type: "array", items: { enum: ["a", null] } }), 'Array<"a" | null>');
    assert.equal(dataOf({ prefixItems: [{ type: "string" }], items: false }), "[string]");
    assert.equal(dataOf({ prefixItems: [{ type: "string" }] }), "[string, ...unknown[]]");
    assert.equal(
      dataOf({ type: "object", additionalProperties: { type: "boolean" } }),
      "Record<string, boolean>",
    );
    assert.equal(dataOf({ type: "object", additionalProperties: false }), "Record<string, never>");
    assert.equal(dataOf({ $ref: "#" }), "AB");
    assert.equal(dataOf({ $ref: "https://elsewhere.example/x" }), "unknown");
    assert.match(
      dataOf({ allOf: [{ properties: { a: {} } }, { type: "object" }] }),
      /^\(\{\n {2}a\?: unknown;\n\}\) & /,
    );
    assert.match(typesOf({ type: "string" }, "2fa.on"), /export type Type2faOn = string;/);
  });

  it("is accepted by the compiler, and the catalog's own examples fit it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "postern-types-"));
    try {
      const files = [...builtInCatalog, ...CATALOG].map(async (entry, index) => {
        const path = join(folder, `event-${index}.ts`);
        const code = typeScriptOf(entry);
        const name = /data: (\w+);/.exec(code)?.[1] ?? "";
        await writeFile(
          path,
          `${code}export const example: ${name} = ${JSON.stringify(entry.payloadShape)};\n`,
        );
        return path;
      });
      const tsc = join(
        dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
        "bin",
        "tsc",
      );
      const args = [tsc, "--noEmit", "--strict", "--ignoreConfig", ...(await Promise.all(files))];
      const run = spawnSync(process.execPath, args, { encoding: "utf8", cwd: folder });
      assert.equal(run.status, 0, run.stdout);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
