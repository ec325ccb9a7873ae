import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import * as ids from "./id.ts";
import {
  idTimeMs,
  lowestIdAfter,
  lowestIdAt,
  newDeliveryId,
  parseDeliveryId,
  parseEventId,
  parseTenantId,
} from "./id.ts";

const PARSERS = [
  ids.parseEndpointId,
  parseDeliveryId,
  parseEventId,
  ids.parseAuditId,
  ids.parseExportId,
  ids.parseReplayId,
  ids.parsePortalSessionId,
];
const MAKERS = [
  ids.newEndpointId,
  newDeliveryId,
  ids.newEventId,
  ids.newAuditId,
  ids.newExportId,
  ids.newReplayId,
  ids.newPortalSessionId,
];
const ID = "0190a5b1-7c00-7000-8000-0123456789ab";
const MAX_TIME_MS = 2 ** 48 - 1;

describe("ids", () => {
  it("are canonical lower-case UUIDs; any other text is an unknown id", () => {
    for (const parse of PARSERS) {
      assert.equal(parse(ID), ID);
      const others = [
        ID.toUpperCase(),
        ` ${ID}`,
        `${ID}\n`,
        `{${ID}}`,
        ID.replaceAll("-", ""),
        "",
        null,
        7,
        [ID],
      ];
      for (const other of others) assert.equal(parse(other), null);
    }
  });

  it("are version 7, sort by their time and carry it", () => {
    for (const make of MAKERS) {
      const before = Date.now();
      const ids = Array.from({ length: 500 }, () => make());
      const after = Date.now();
      assert.deepEqual(ids.toSorted(), ids);
      for (const id of ids) {
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        assert.ok(idTimeMs(id) >= before && idTimeMs(id) <= after);
      }
    }
  });

  it("sort as they were made where the clock is set back, and carry its new time once that is later", (test) => {
    let nowMs = Date.now();
    test.mock.method(Date, "now", () => nowMs);
    const made = [newDeliveryId()];
    const madeMs = nowMs;
    for (const later of [-3_600_000, -1, 0, 1]) {
      nowMs = madeMs + later;
      made.push(newDeliveryId());
    }
    assert.deepEqual(made.toSorted(), made);
    assert.deepEqual(
      made.map((id) => idTimeMs(id) - madeMs),
      [0, 0, 0, 0, 1],
    );
  });

  it("begin each millisecond low enough to be counted up in it", (test) => {
    let nowMs = Date.now() + 60_000;
    test.mock.method(Date, "now", () => nowMs);
    for (let n = 0; n < 200; n++) {
      nowMs++;
      assert.match(newDeliveryId(), /^.{14}7[0-3]/);
    }
  });

  it("of another millisecond tell nothing of each other", (test) => {
    let nowMs = Date.now() + 120_000;
    test.mock.method(Date, "now", () => nowMs++);
    // What is counted within a millisecond: the 12 bits behind the version, without the highest.
    const begins = Array.from({ length: 200 }, () => Number.parseInt(newDeliveryId().slice(15, 18), 16));
    assert.ok(new Set(begins).size > 50, "the numbers that a millisecond begins with are by chance");
  });

  it("differ by chance, also beyond what is drawn at once", () => {
    const ends = Array.from({ length: 1100 }, () => newDeliveryId().slice(24));
    assert.equal(new Set(ends).size, ends.length);
  });

  it("have a least one for each time, in the order of times", () => {
    const times = fc.integer({ min: 0, max: MAX_TIME_MS });
    fc.assert(
      fc.property(times, times, (one, two) => {
        const [low, high] = [lowestIdAt(one), lowestIdAt(two)];
        assert.equal(low < high, one < two);
        const id = parseEventId(low);
        assert.ok(id !== null && idTimeMs(id) === one);
      }),
    );
  });

  it("clamp times that no id can carry, and round up to a whole millisecond", () => {
    assert.equal(lowestIdAt(-1e15), lowestIdAt(0));
    assert.equal(lowestIdAt(1e18), lowestIdAt(MAX_TIME_MS));
    assert.equal(lowestIdAt(7.1), lowestIdAt(8));
  });
});

describe("the least id behind another", () => {
  it("is the next number, and never a smaller one", () => {
    const cases = [
      ["019a2f00-0000-7000-8000-0000000000ff", "019a2f00-0000-7000-8000-000000000100"],
      ["00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001"],
      ["0fffffff-ffff-ffff-ffff-ffffffffffff", "10000000-0000-0000-0000-000000000000"],
      ["ffffffff-ffff-ffff-ffff-ffffffffffff", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    ];
    for (const [given, expected] of cases) {
      const id = parseDeliveryId(given);
      assert.ok(id !== null);
      assert.equal(lowestIdAfter(id), expected);
    }
  });
});

describe("a tenant id", () => {
  it("is 1 to 64 of letters, digits, underscore and hyphen", () => {
    for (const id of ["a", "A-Z_09", "x".repeat(64), "constructor"]) assert.equal(parseTenantId(id), id);
    for (const id of ["", "x".repeat(65), "a b", "ä", "a\n", "*", "a.b", null, undefined, 1, ["a"]]) {
      assert.equal(parseTenantId(id), null);
    }
  });
});
