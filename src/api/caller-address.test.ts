import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { addressKey, callerAddress } from "./caller-address.ts";

describe("callerAddress", () => {
  const cases: [ip: string | undefined, remote: string | undefined, address: string][] = [
    ["203.0.113.7", "203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", undefined, "203.0.113.7"],
    ["::ffff:cb00:7107", undefined, "203.0.113.7"],
    ["fe80::1%eth0", undefined, "fe80::1"],
    // What looks like IPv4 in IPv6 and is none.
    ["::1", undefined, "::1"],
    ["::ffff:0:cb00:7107", undefined, "::ffff:0:cb00:7107"],
    ["2001:db8::ffff:cb00:7107", undefined, "2001:db8::ffff:cb00:7107"],
    ["64:ff9b::cb00:7107", undefined, "64:ff9b::cb00:7107"],
    ["not an address", "10.0.0.9", "10.0.0.9"],
    ["203.0.113.7:4711", "10.0.0.9", "10.0.0.9"],
    ["", undefined, "unknown"],
    [undefined, undefined, "unknown"],
  ];
  for (const [ip, remoteAddress, address] of cases) {
    it(`of ${JSON.stringify(ip)} is ${address}`, () => {
      assert.equal(callerAddress({ ip, socket: { remoteAddress } }), address);
    });
  }
});

describe("addressKey", () => {
  it("is the same for every address of an IPv6 /64, however it is spelled, and another beyond it", () => {
    const address = fc.ipV6();
    assert.equal(addressKey("2001:db8:0:7::1"), "2001:db8:0:7::/64");
    assert.equal(addressKey("2001:0db8:0000:0007:ffff:ffff:ffff:ffff"), "2001:db8:0:7::/64");
    assert.notEqual(addressKey("2001:db8:0:8::1"), "2001:db8:0:7::/64");
    fc.assert(fc.property(address, (text) => /^[0-9a-f:]+::\/64$/.test(addressKey(text))));
  });

  it("is an IPv4 address itself", () => {
    fc.assert(fc.property(fc.ipV4(), (text) => addressKey(text) === text));
  });
});
