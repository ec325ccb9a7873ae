import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as fc from "fast-check";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import {
  boolArray,
  byteaArray,
  float8Array,
  int2Array,
  int4Array,
  textArray,
  timestamptzArray,
  uuidArray,
} from "./binary-arrays.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase({ migrated: false });
});

after(() => database.drop());

/** What PostgreSQL takes the array for, beside the same array as `pg` would write it, as text. */
async function assertSame(type: string, elements: readonly unknown[], encoded: Buffer): Promise<void> {
  const { rows } = await database.pool.query(
    `SELECT $1::${type}[] IS NOT DISTINCT FROM $2::${type}[] AS same, cardinality($1::${type}[]) AS length`,
    // `pg` writes a Date by the local clock and whole minutes, and some clocks once were seconds off.
    [encoded, elements.map((element) => (element instanceof Date ? element.toISOString() : element))],
  );
  assert.deepEqual(rows, [{ same: true, length: elements.length }]);
}

/** Text that PostgreSQL stores: everything but NUL, and half a pair, which becomes U+FFFD either way. */
const text = fc.string({ unit: "binary" }).map((value) => value.replaceAll("\0", ""));
const bytes = fc.uint8Array().map((value) => Buffer.from(value));

function assertLike<Element>(
  type: string,
  encode: (elements: readonly (Element | null)[]) => Buffer,
  elements: fc.Arbitrary<Element>,
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(fc.array(fc.option(elements)), (given) => assertSame(type, given, encode(given))),
    { examples: [[[]], [[null]]] },
  );
}

describe("arrays in PostgreSQL's binary format", () => {
  it("are what their text would be", async () => {
    const times = { min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z") };
    await assertLike("text", textArray, text);
    await assertLike("uuid", uuidArray, fc.uuid());
    await assertLike("bytea", byteaArray, bytes);
    await assertLike("boolean", boolArray, fc.boolean());
    await assertLike("smallint", int2Array, fc.integer({ min: -32_768, max: 32_767 }));
    await assertLike("integer", int4Array, fc.integer());
    await assertLike("float8", float8Array, fc.double());
    await assertLike("timestamptz", timestamptzArray, fc.date({ ...times, noInvalidDate: true }));
  });

  it("keep what is longer than its characters, and what escaping would change", async () => {
    const texts = ["", "NULL", '"', "\\", "{}", ",", " ", "é", "😀".repeat(1001), "a\r\nb", "\ud800"];
    await assertSame("text", texts, textArray(texts));
  });

  it("refuse an id that is no UUID, and never send another one in its place", () => {
    const id = "019cb5d1-6c6e-7b5a-8f00-0123456789ab";
    assert.equal(uuidArray([id, null]).length, 20 + 4 + 16 + 4);
    for (const broken of ["", id.slice(1), `${id}0`, id.replace("c", "g"), `{${id}}`, id.replace("-", "é")])
      assert.throws(() => uuidArray([broken]), /no UUID/);
  });

  it("refuse a number or a time that has no place in the type", () => {
    assert.throws(() => int2Array([32_768]), RangeError);
    assert.throws(() => int4Array([2 ** 31]), RangeError);
    assert.throws(() => timestamptzArray([new Date(Number.NaN)]), RangeError);
  });

  it("with a NUL in a text are refused by PostgreSQL", async () => {
    await assert.rejects(
      database.pool.query("SELECT $1::text[]", [textArray(["a\0b"])]),
      /invalid byte sequence/,
    );
  });
});
