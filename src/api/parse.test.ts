/** Bodies and queries as routes read them, and the issues of those that are refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fastify } from "fastify";
import * as z from "zod";
import { Refusal } from "../shared/refusal.ts";
import { acceptLenientJson, parse, parseQuery, withDigits } from "./parse.ts";

/** All that a caller is told of a refusal; the value where there is none. */
function told<Value>(read: () => Value) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { code: error.code, issues: error.issues };
  }
}

const refused = (...issues: { path: (string | number)[]; message: string; code: string }[]) => ({
  code: "validation_failed",
  issues,
});
const slip = (path: (string | number)[], meant: string) => ({
  path,
  message: `did you mean "${meant}"?`,
  code: "did_you_mean",
});
const missing = refused({ path: [], message: "the body is missing, or is not JSON", code: "invalid_type" });

describe("a body by its schema", () => {
  const loose = z.object({ events: z.array(z.string()).optional(), name: z.string() });
  const strict = z.strictObject({ events: z.array(z.string()).optional(), name: z.string() });
  const wrongName = {
    path: ["name"],
    message: "Invalid input: expected string, received number",
    code: "invalid_type",
  };

  it("is read, with members that nobody knows left out or refused as the schema has it", () => {
    const given = { name: "a", other: 1 };
    assert.deepEqual(
      told(() => parse(loose, given)),
      { name: "a" },
    );
    assert.deepEqual(
      told(() => parse(strict, { name: "a" })),
      { name: "a" },
    );
    const unknown = { path: [], message: 'Unrecognized key: "other"', code: "unrecognized_keys" };
    assert.deepEqual(
      told(() => parse(strict, given)),
      refused(unknown),
    );
  });

  it("names what a slip was meant to be, once, and the other faults behind it", () => {
    const given = { name: 1, event: [] };
    for (const schema of [loose, strict])
      assert.deepEqual(
        told(() => parse(schema, given)),
        refused(slip(["event"], "events"), wrongName),
      );
    assert.deepEqual(
      told(() => parse(loose, { name: "a", event: [] })),
      refused(slip(["event"], "events")),
    );
    const both = { path: [], message: 'Unrecognized keys: "event", "other"', code: "unrecognized_keys" };
    const mixed = told(() => parse(strict, { name: "a", event: [], other: 1 }));
    assert.deepEqual(mixed, refused(slip(["event"], "events"), both));
  });

  it("tells a member of an inner object from a slip of the same name", () => {
    const inner = { path: ["inner"], message: 'Unrecognized key: "event"', code: "unrecognized_keys" };
    const schema = z.object({ events: z.string().optional(), inner: z.strictObject({}) });
    const found = told(() => parse(schema, { event: "", inner: { event: "" } }));
    assert.deepEqual(found, refused(slip(["event"], "events"), inner));
  });

  it("may be null where the schema takes it, and is else refused as no JSON", () => {
    const nullable = strict.nullable();
    assert.equal(parse(nullable, undefined), null);
    assert.deepEqual(
      told(() => parse(nullable, { name: "a", event: 1 })),
      refused(slip(["event"], "events")),
    );
    for (const body of [null, undefined])
      assert.deepEqual(
        told(() => parse(loose, body)),
        missing,
      );
    const noQuery = told(() => parseQuery(loose, null));
    const message = "Invalid input: expected object, received null";
    const issues = [{ path: [], message, code: "invalid_type" }];
    assert.deepEqual(noQuery, { code: "invalid_query", issues });
  });

  it("may be a list, whose slips are named with their places", () => {
    const list = z.array(loose);
    assert.deepEqual(parse(list, [{ name: "a" }, { name: "b", other: 1 }]), [{ name: "a" }, { name: "b" }]);
    const given = [{ name: "a" }, { name: "b", nmae: "" }, 7, null];
    const type = { message: "Invalid input: expected object, received number", code: "invalid_type" };
    const none = { message: "Invalid input: expected object, received null", code: "invalid_type" };
    assert.deepEqual(
      told(() => parse(list, given)),
      refused(slip([1, "nmae"], "name"), { path: [2], ...type }, { path: [3], ...none }),
    );
  });

  it("may be sent back as it was answered: members of that object are no slips", () => {
    const answered = z.object({ event: z.string() });
    assert.deepEqual(parse(loose, { name: "a", event: "" }, answered), { name: "a" });
    const other = told(() => parse(loose, { name: "a", event: "", evnets: [] }, answered));
    assert.deepEqual(other, refused(slip(["evnets"], "events")));
    const inherited = told(() =>
      parse(z.object({ toStrings: z.string().optional() }), { toString: 1 }, answered),
    );
    assert.deepEqual(inherited, refused(slip(["toString"], "toStrings")));
  });

  it("has no other fault for members that are all slips, and one for those that are not", () => {
    const two = told(() => parse(strict, { event: [], nmae: "" }));
    const noName = { ...wrongName, message: "Invalid input: expected string, received undefined" };
    assert.deepEqual(two, refused(slip(["event"], "events"), slip(["nmae"], "name"), noName));
    const given = [
      { name: "a", event: [], nmae: "" },
      { name: "b", event: [], other: 1 },
    ];
    const keys = { path: [1], message: 'Unrecognized keys: "event", "other"', code: "unrecognized_keys" };
    const slips = [slip([0, "event"], "events"), slip([0, "nmae"], "name"), slip([1, "event"], "events")];
    assert.deepEqual(
      told(() => parse(z.array(strict), given)),
      refused(...slips, keys),
    );
  });

  it("names a hundred slips at most", () => {
    const given = Array.from({ length: 101 }, () => ({ name: "a", nmae: "" }));
    const found = told(() => parse(z.array(loose), given));
    assert.deepEqual(found, refused(...given.slice(1).map((_, at) => slip([at, "nmae"], "name"))));
  });

  it("that is no object has faults and no slips", () => {
    const either = z.union([z.string(), z.number()]);
    assert.equal(parse(either, "a"), "a");
    const message = "Invalid input: expected object, received string";
    assert.deepEqual(
      told(() => parse(loose, "name")),
      refused({ path: [], message, code: "invalid_type" }),
    );
  });

  it("names symbols in a path as text", () => {
    const odd = Symbol("odd");
    const schema = z.unknown().refine(() => false, { path: [odd, 1], message: "no" });
    assert.deepEqual(
      told(() => parse(schema, 1)),
      refused({ path: ["Symbol(odd)", 1], message: "no", code: "custom" }),
    );
  });
});

/** As handlers get it. */
async function received(payload: string | Buffer, headers: Record<string, string> = {}): Promise<unknown> {
  const app = fastify();
  acceptLenientJson(app);
  let body: unknown;
  app.post("/", (request) => {
    body = request.body;
    return {};
  });
  const { statusCode } = await app.inject({ method: "POST", url: "/", payload, headers });
  assert.equal(statusCode, 200);
  return body;
}

describe("bytes of a body", () => {
  it("are JSON whatever they are called, or nothing", async () => {
    for (const type of ["application/json", "text/plain", "application/xml", "nonsense", ""])
      assert.deepEqual(await received('{"a":[1]}', { "content-type": type }), { a: [1] }, type);
    assert.equal((await received("")) ?? null, null);
    assert.deepEqual([await received("7"), await received("9007199254740993")], [7, 9007199254740992]);
  });

  it("that are no JSON are refused, also where a body may be absent", async () => {
    const optional = z.object({ name: z.string() }).nullable();
    assert.equal(parse(optional, await received("")), null);
    assert.equal(parse(optional, await received("null")), null);
    for (const bytes of ["{", " ", "a=b", "undefined", "{'name':'a'}", Buffer.from([0x22, 0xff, 0x22])]) {
      const body = await received(bytes, { "content-type": "application/json" });
      for (const schema of [optional, z.object({}), z.unknown()])
        assert.deepEqual(
          told(() => parse(schema, body)),
          missing,
          String(bytes),
        );
    }
  });

  it("keep the digits of numbers that a double does not hold", async () => {
    const text = '{"data":{"n":9007199254740993}}';
    assert.equal(JSON.stringify(withDigits(await received(text))), text);
    assert.equal(withDigits(await received('{"n":1}')), null);
    for (const body of [null, undefined, "9007199254740993", await received("9007199254740993")])
      assert.equal(withDigits(body), null);
  });

  it("are refused where they are nested too deep for their digits to be kept", async () => {
    const body = await received(`${"[".repeat(20_000)}9007199254740993${"]".repeat(20_000)}`);
    const issue = { path: [], message: "too_deep", code: "too_deep" };
    assert.deepEqual(
      told(() => withDigits(body)),
      refused(issue),
    );
  });
});
