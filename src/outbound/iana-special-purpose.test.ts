/** What the registries' rows say. That their blocks are refused is tested with the address rules. */
import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import {
  IANA_IPV4_BLOCKS,
  IANA_IPV6_BLOCKS,
  IANA_REGISTRIES,
  OTHER_SPECIAL_BLOCKS,
} from "./iana-special-purpose.ts";

const blocksOf = (rows: readonly { cidr: string }[]) => rows.map(({ cidr }) => cidr).join(" ");

describe("a row of the special-purpose registries", () => {
  for (const { cidr, name, source } of [...IANA_IPV4_BLOCKS, ...IANA_IPV6_BLOCKS, ...OTHER_SPECIAL_BLOCKS]) {
    it(`says the name of ${cidr} and the RFC that it comes from`, () => {
      notEqual(name, "");
      match(source, /^RFC \d{3,4}$/);
    });
  }

  it("has its block: a narrower one would open the rest of it", () => {
    equal(
      blocksOf(IANA_IPV4_BLOCKS),
      "0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 " +
        "192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 " +
        "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.88.99.2/32 192.168.0.0/16 192.175.48.0/24 " +
        "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 255.255.255.255/32",
    );
    equal(
      blocksOf(IANA_IPV6_BLOCKS),
      "::1/128 ::/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 " +
        "2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 " +
        "2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10",
    );
    equal(blocksOf(OTHER_SPECIAL_BLOCKS), "224.0.0.0/4 3ffe::/16 fec0::/10 ff00::/8");
  });

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
