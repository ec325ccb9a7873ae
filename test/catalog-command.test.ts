/** `postern catalog check | diff | import`, as an operator types them. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { runProgram } from "./support/program.ts";
import { startTestService } from "./support/service.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-catalog-"));
});
after(() => rm(folder, { recursive: true }));

async function write(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

/** Runs it; paths in what it prints are without the folder. */
async function catalog(args: string[], env: Record<string, string | undefined> = {}) {
  const { code, output, errors } = await runProgram(["catalog", ...args], env);
  return { code, output: output.replaceAll(`${folder}/`, ""), errors: errors.replaceAll(`${folder}/`, "") };
}

const entry = (type: string, more = "", example = "{}"): string =>
  `- type: ${type}\n  title: T\n  description: D\n  group: G\n  payloadShape: ${example}\n${more}`;
const schema = (count: string): string =>
  `  schema: { required: [count], properties: { count: { type: ${count} } } }\n`;

describe("postern catalog check", () => {
  it("counts the types of a file without faults, named or that of EVENT_CATALOG", async () => {
    const file = await write("good.yaml", entry("a.b") + entry("a.c", schema("integer"), "{ count: 1 }"));
    const named = await catalog(["check", file]);
    assert.deepEqual([named.code, named.errors], [0, ""]);
    assert.match(named.output, /^good\.yaml: [0-9]+ types/);
    assert.deepEqual(await catalog(["check"], { EVENT_CATALOG: file }), named);
  });

  it("finds an example that no event can be like", async () => {
    const text = entry("a.b", schema("integer"), "{ count: one }") + entry("a.c", schema("integer"));
    const { code, errors } = await catalog(["check", await write("examples.yaml", text)]);
    assert.equal(code, 1);
    assert.deepEqual(errors.trim().split("\n"), [
      "examples.yaml:5: the example of a.b breaks its own schema: data.count must be integer",
      "examples.yaml:11: the example of a.c breaks its own schema: data must have required property 'count'",
    ]);
  });

  it("names a file that is not there, and no setting that was not used", async () => {
    const why = "cannot read none.yaml: ENOENT: no such file or directory, open 'none.yaml'\n";
    const file = join(folder, "none.yaml");
    const named = await catalog(["check", file]);
    assert.deepEqual([named.code, named.errors], [1, why]);
    const set = await catalog(["check"], { EVENT_CATALOG: file });
    assert.deepEqual([set.code, set.errors], [1, `EVENT_CATALOG: ${why}`]);
  });

  it("prints every fault with file and line, and exits with 1", async () => {
    const file = await write("bad.yaml", entry("a.b") + entry("a.b", schema("7")) + entry("a.c"));
    const { code, errors } = await catalog(["check", file]);
    assert.equal(code, 1);
    const lines = errors.trim().split("\n");
    assert.match(lines[0] ?? "", /^bad\.yaml:6: the type a\.b is listed twice$/);
    assert.match(lines[1] ?? "", /^bad\.yaml:11: the schema of a\.b is not valid: /);
    assert.equal(lines.length, 2);
  });

  it("refuses a file whose aliases would fill the memory, with its name", async () => {
    const levels = Array.from({ length: 9 }, (_, level) => {
      const inner = level === 0 ? "x" : `*l${level - 1}`;
      return `  l${level}: &l${level} [${Array(9).fill(inner).join(", ")}]\n`;
    });
    const file = await write(
      "bomb.yaml",
      `- type: a\n  payloadShape:\n${levels.join("").replaceAll("  l", "    l")}`,
    );
    const { code, errors } = await catalog(["check", file]);
    assert.equal(code, 1);
    assert.match(errors, /^bomb\.yaml:1: Excessive alias count/);
  });
});

describe("postern catalog diff", () => {
  it("lists what a new file changes, and exits with 1 only if it breaks receivers", async () => {
    const before = await write("before.yaml", entry("a.b", schema("integer")) + entry("a.old"));
    const kind = await write(
      "kind.yaml",
      entry("a.b", schema("integer")) + entry("a.old", "  deprecated: true\n") + entry("a.new"),
    );
    assert.deepEqual(await catalog(["diff", kind], { EVENT_CATALOG: before }), {
      code: 0,
      output: "deprecated  a.old\nadded       a.new\n",
      errors: "",
    });
    const unkind = await write("unkind.yaml", entry("a.b", schema("string")) + entry("a.new"));
    assert.deepEqual(await catalog(["diff", unkind], { EVENT_CATALOG: before }), {
      code: 1,
      output:
        "changed     a.b: breaks receivers\n  data.count was integer, and may be string\nadded       a.new\nremoved     a.old: breaks receivers\n",
      errors: "",
    });
  });

  it("compares with the catalog that a running Postern shows", async (test) => {
    const running = await write("running.yaml", entry("a.b"));
    const service = await startTestService({ env: { EVENT_CATALOG: running }, roles: ["api"] });
    test.after(() => service.stop());
    const file = await write("next.yaml", entry("a.b") + entry("a.c"));
    const args = ["diff", file, "--tenant", "acme", "--url", service.url];
    const { code, output } = await catalog(args, { ...service.env, EVENT_CATALOG: file });
    assert.deepEqual([code, output], [0, "added       a.c\n"]);
  });
});

const OPEN_API = `openapi: 3.1.0
info: { title: Shop, version: "1" }
webhooks:
  order.placed:
    post:
      summary: Order placed
      description: An order came in.
      tags: [Orders]
      requestBody:
        content:
          application/json:
            schema: { $ref: "#/components/schemas/Order" }
            example: { order_id: o1, lines: [{ sku: s1, parent: { sku: s2 } }] }
  order.void:
    post:
      deprecated: true
      requestBody: { $ref: "#/components/requestBodies/Void" }
components:
  requestBodies:
    Void:
      content: { application/json: { schema: { type: object } } }
  schemas:
    Order:
      type: object
      required: [order_id]
      properties:
        order_id: { type: string }
        lines: { type: array, items: { $ref: "#/components/schemas/Line" } }
    Line:
      type: object
      required: [sku]
      properties:
        sku: { type: string, default: { $ref: data } }
        parent: { $ref: "#/components/schemas/Line" }
`;

const webhook = (name: string, bodySchema: string): string =>
  `  ${name}: { post: { requestBody: { content: { application/json: { schema: ${bodySchema} } } } } }\n`;

describe("postern catalog import", () => {
  it("prints an OpenAPI document's webhooks as a catalog that stands alone", async () => {
    const { code, output, errors } = await runProgram(
      ["catalog", "import", await write("api.yaml", OPEN_API)],
      {},
    );
    assert.equal(code, 0, output);
    assert.match(errors, /api\.yaml:15: order\.void has no example: write its payloadShape\n$/);
    const text = output.replace(errors, "");
    const [placed, cancelled] = parse(text);
    assert.deepEqual(
      [placed.type, placed.title, placed.description, placed.group, placed.payloadShape.order_id],
      ["order.placed", "Order placed", "An order came in.", "Orders", "o1"],
    );
    assert.deepEqual(cancelled, {
      type: "order.void",
      title: "order.void",
      description: "",
      group: "Events",
      payloadShape: {},
      schema: { type: "object" },
      deprecated: true,
    });
    const lines = { type: "array", items: { $ref: "#/$defs/Line" } };
    assert.deepEqual(placed.schema.properties, { order_id: { type: "string" }, lines });
    assert.deepEqual(placed.schema.$defs.Line.properties, {
      sku: { type: "string", default: { $ref: "data" } },
      parent: { $ref: "#/$defs/Line" },
    });
    const service = await startTestService({
      env: { EVENT_CATALOG: await write("imported.yaml", text) },
      roles: ["api"],
    });
    try {
      const publish = (data: unknown) =>
        service.call("POST", "/api/events", {
          as: { type: "service", tid: "acme", sub: "app", permissions: ["events:write"] },
          json: { type: "order.placed", data },
        });
      assert.equal((await publish(placed.payloadShape)).status, 202);
      assert.equal((await publish({ order_id: "o1", lines: [{ sku: "s", parent: {} }] })).status, 400);
    } finally {
      await service.stop();
    }
  });

  it("takes a version from a webhook's name", async () => {
    const text = `webhooks:\n${webhook("a.b@2", "{}")}${webhook("a.b", "{}")}`;
    const { output } = await catalog(["import", await write("versions.yaml", text)]);
    const file = await write("from-versions.yaml", output.slice(0, output.indexOf("versions.yaml")));
    assert.match((await catalog(["check", file])).output, /types in [0-9]+ versions/);
    assert.match(output, /^- type: a\.b\n {2}title: a\.b@2\n(?:.*\n)*? {2}version: 2\n- type: a\.b\n/);
  });

  it("refuses what is no event type, each with its line, and prints nothing", async () => {
    const text =
      "webhooks:\n" +
      webhook("order-placed", "{}") +
      webhook("a", '{ $ref: "other.yaml#/A" }') +
      webhook("b", '{ $ref: "#/components/none" }') +
      webhook("c", '{ $ref: "#/webhooks/c/post/requestBody/content/application~1json/schema" }') +
      webhook("d", "{ type: 7 }") +
      "  e: { get: {} }\n";
    const { code, output, errors } = await catalog(["import", await write("odd.yaml", text)]);
    assert.equal(code, 1);
    assert.equal(output, errors, "nothing on stdout");
    const expected = [
      /^ +odd\.yaml:2: order-placed: type must be dotted segments/,
      /^ +odd\.yaml:3: a: other\.yaml#\/A is outside of the document/,
      /^ +odd\.yaml:4: b: #\/components\/none leads nowhere/,
      /^ +odd\.yaml:5: c: its references go around in a circle/,
      /^ +odd\.yaml:6: d: .*type/,
      /^ +odd\.yaml:7: e: /,
    ];
    const lines = errors.trimEnd().split("\n").slice(1);
    assert.equal(lines.length, expected.length, errors);
    for (const [index, pattern] of expected.entries()) assert.match(lines[index] ?? "", pattern);
    const none = await catalog(["import", await write("none.yaml", "openapi: 3.1.0\n")]);
    assert.match(none.errors, /none\.yaml:1: the document has no webhooks/);
  });
});
