/**
 * Array parameters in PostgreSQL's binary format. `pg` writes arrays as text:
 * each element is escaped here, parsed there, and a `bytea` takes twice its
 * bytes. The statements of the hot path carry a dozen arrays for each batch, so
 * that was a quarter of the CPU of publishing and delivering an event.
 *
 * `pg` sends a Buffer as a binary parameter. The statement must cast it to the
 * array's type (`$1::uuid[]`), since the element type in the header must match.
 *
 * Format: `array_send` in PostgreSQL's `arrayfuncs.c`, and `…_send` of the
 * element types. All numbers are big-endian.
 */
import assert from "node:assert/strict";

/** Object ids of the element types, from PostgreSQL's `pg_type.dat`. */
const OID = { bool: 16, bytea: 17, int2: 21, int4: 23, text: 25, float8: 701, timestamptz: 1184, uuid: 2950 };

/** Dimensions, whether there are nulls, the element type, the length, the first index. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

type Elements<Element> = readonly (Element | null)[];

function withHeader(elements: Elements<unknown>, oid: number, elementBytes: number): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + LENGTH_BYTES * elements.length + elementBytes);
  // One dimension also for an empty array: PostgreSQL takes it for the empty array that it is.
  array.writeInt32BE(1, 0);
  array.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(elements.length, 12);
  array.writeInt32BE(1, 16);
  return array;
}

/** Elements that all take `size` bytes. */
function fixed<Element>(
  oid: number,
  size: number,
  write: (array: Buffer, element: Element, at: number) => void,
): (elements: Elements<Element>) => Buffer {
  return (elements) => {
    const present = elements.reduce<number>((count, element) => count + (element === null ? 0 : 1), 0);
    const array = withHeader(elements, oid, present * size);
    let at = HEADER_BYTES;
    for (const element of elements) {
      at = array.writeInt32BE(element === null ? NULL_LENGTH : size, at);
      if (element === null) continue;
      write(array, element, at);
      at += size;
    }
    return array;
  };
}

export const boolArray = fixed<boolean>(OID.bool, 1, (array, value, at) => {
  array[at] = value ? 1 : 0;
});
export const int2Array = fixed<number>(OID.int2, 2, (array, value, at) => array.writeInt16BE(value, at));
export const int4Array = fixed<number>(OID.int4, 4, (array, value, at) => array.writeInt32BE(value, at));
export const float8Array = fixed<number>(OID.float8, 8, (array, value, at) => array.writeDoubleBE(value, at));
export const timestamptzArray = fixed<Date>(OID.timestamptz, 8, writeTime);
export const uuidArray = fixed<string>(OID.uuid, 16, writeUuid);

export function textArray(elements: Elements<string>): Buffer {
  let bytes = 0;
  for (const text of elements) if (text !== null) bytes += Buffer.byteLength(text);
  const array = withHeader(elements, OID.text, bytes);
  let at = HEADER_BYTES;
  for (const text of elements) {
    if (text === null) {
      at = array.writeInt32BE(NULL_LENGTH, at);
      continue;
    }
    const length = array.write(text, at + LENGTH_BYTES);
    at = array.writeInt32BE(length, at) + length;
  }
  return array;
}

export function byteaArray(elements: Elements<Buffer>): Buffer {
  let size = 0;
  for (const bytes of elements) if (bytes !== null) size += bytes.length;
  const array = withHeader(elements, OID.bytea, size);
  let at = HEADER_BYTES;
  for (const bytes of elements) {
    at = array.writeInt32BE(bytes === null ? NULL_LENGTH : bytes.length, at);
    if (bytes !== null) at += bytes.copy(array, at);
  }
  return array;
}

/** Midnight of 1 January 2000, UTC, from which PostgreSQL counts microseconds. */
const EPOCH_MS = 946_684_800_000;

function writeTime(array: Buffer, time: Date, at: number): void {
  array.writeBigInt64BE(BigInt(time.getTime() - EPOCH_MS) * 1000n, at);
}

const UUID_LENGTH = 36;
const HYPHEN = 45;
/** The value of a hexadecimal digit by its character code; NaN for any other. */
const DIGITS = Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16));

function writeUuid(array: Buffer, id: string, at: number): void {
  let byte = at;
  let index = 0;
  while (index < id.length && byte < at + 16) {
    if (id.charCodeAt(index) === HYPHEN) index++;
    const high = DIGITS[id.charCodeAt(index)] ?? Number.NaN;
    const low = DIGITS[id.charCodeAt(index + 1)] ?? Number.NaN;
    // NaN is not: an id that is none must not become another one.
    assert.ok(high * 16 + low >= 0, "an id is no UUID");
    array[byte++] = high * 16 + low;
    index += 2;
  }
  assert.ok(index === UUID_LENGTH && id.length === UUID_LENGTH, "an id is no UUID");
}
