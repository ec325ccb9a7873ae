import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deprecationHeaders } from "./deprecation.ts";

describe("the headers of a catalog", () => {
  it("name the first time of each kind, whatever the order and the offsets", () => {
    assert.deepEqual(
      deprecationHeaders([
        {},
        { deprecated_since: "2026-02-01T00:00:00Z", sunset: "2026-09-01T02:00:00+02:00" },
        { deprecated_since: "2026-01-01T00:00:00.900Z", sunset: "2026-10-01T00:00:00Z" },
      ]),
      { deprecation: "@1767225600", sunset: "Tue, 01 Sep 2026 00:00:00 GMT" },
    );
  });

  it("are absent where nothing is deprecated, and without an end where none is set", () => {
    assert.deepEqual(deprecationHeaders([{}]), {});
    assert.deepEqual(deprecationHeaders([{ deprecated_since: "1970-01-01T00:00:01Z" }]), {
      deprecation: "@1",
    });
  });
});
