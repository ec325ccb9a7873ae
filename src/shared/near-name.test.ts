import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nearName } from "./near-name.ts";

const KNOWN = ["schema", "payloadShape", "type", "deprecated_since"];

describe("nearName", () => {
  for (const [typed, meant] of [
    ["shema", "schema"],
    ["SCHEMA", "schema"],
    ["payloadshape", "payloadShape"],
    ["payload_shape", "payloadShape"],
    ["deprecatedSince", "deprecated_since"],
    ["typ", "type"],
    ["sxxema", "schema"],
  ] as const) {
    it(`takes ${typed} for ${meant}`, () => assert.equal(nearName(typed, KNOWN), meant));
  }

  for (const typed of ["schema", "type", "tp", "sxxxma", "owner", ""]) {
    it(`takes ${JSON.stringify(typed)} for none`, () => assert.equal(nearName(typed, KNOWN), null));
  }
});
