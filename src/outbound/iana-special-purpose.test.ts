/** What the registries' rows say beside their blocks. The blocks are tested with the address rules. */
import { deepEqual, match, notEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import {
  IANA_IPV4_BLOCKS,
  IANA_IPV6_BLOCKS,
  IANA_REGISTRIES,
  OTHER_SPECIAL_BLOCKS,
} from "./iana-special-purpose.ts";

describe("a row of the special-purpose registries", () => {
  for (const { cidr, name, source } of [...IANA_IPV4_BLOCKS, ...IANA_IPV6_BLOCKS, ...OTHER_SPECIAL_BLOCKS]) {
    it(`says the name of ${cidr} and the RFC that it comes from`, () => {
      notEqual(name, "");
      match(source, /^RFC \d{3,4}$/);
    });
  }

  it("is from a registry that is named with the day of its last change", () => {
    const dated = Object.values(IANA_REGISTRIES).map(({ name, lastUpdated }) => [
      name,
      new Date(`${lastUpdated}T00:00:00Z`).toISOString().slice(0, 10) === lastUpdated,
    ]);
    deepEqual(dated, [
      ["IANA IPv4 Special-Purpose Address Registry", true],
      ["IANA IPv6 Special-Purpose Address Registry", true],
    ]);
  });
});
