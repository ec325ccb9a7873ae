/** Every group that decides counts: an address beside a form in one group alone carries nothing. */
import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { canonicalIp, embeddedIpv4, ipv6Groups } from "./ip-text.ts";

const PUBLIC = [0x2606, 0x4700, 1, 2, 3, 4, 5, 6];
/** 10.0.0.1 in each form that has fixed groups, and which groups these are. */
const FORMS: Record<string, { groups: readonly number[]; fixed: readonly number[] }> = {
  compatible: { groups: [0, 0, 0, 0, 0, 0, 0x0a00, 1], fixed: [0, 1, 2, 3, 4, 5] },
  mapped: { groups: [0, 0, 0, 0, 0, 0xffff, 0x0a00, 1], fixed: [0, 1, 2, 3, 4, 5] },
  translated: { groups: [0, 0, 0, 0, 0xffff, 0, 0x0a00, 1], fixed: [0, 1, 2, 3, 4, 5] },
  NAT64: { groups: [0x64, 0xff9b, 0, 0, 0, 0, 0x0a00, 1], fixed: [0, 1] },
  "6to4": { groups: [0x2002, 0x0a00, 1, 2, 3, 4, 5, 6], fixed: [0] },
  ISATAP: { groups: [0x2606, 0x4700, 1, 2, 0, 0x5efe, 0x0a00, 1], fixed: [4, 5] },
  "ISATAP, universal": { groups: [0x2606, 0x4700, 1, 2, 0x0200, 0x5efe, 0x0a00, 1], fixed: [4, 5] },
};

describe("the IPv4 address inside", () => {
  for (const [name, { groups, fixed }] of Object.entries(FORMS)) {
    it(`${name} is there, and is none where one of the groups that make the form is another`, () => {
      deepEqual(embeddedIpv4(groups), ["10.0.0.1"]);
      for (const place of fixed) {
        const beside = groups.map((group, index) => (index === place ? group ^ 1 : group));
        deepEqual(embeddedIpv4(beside), [], `group ${place}`);
      }
    });
  }

  it("Teredo is that of the server and the client, and needs both of its first groups", () => {
    const groups = [0x2001, 0, 0x0a00, 1, 0, 0, 0xf5ff, 0xfffe];
    deepEqual(embeddedIpv4(groups), ["10.0.0.1", "10.0.0.1"]);
    deepEqual(embeddedIpv4([0x2003, ...groups.slice(1)]), []);
    deepEqual(embeddedIpv4([0x2001, 1, ...groups.slice(2)]), []);
  });

  it("the first addresses of all is none in :: and ::1, and is one from ::2 on", () => {
    for (const [ip, embedded] of [
      ["::", []],
      ["::1", []],
      ["::2", ["0.0.0.2"]],
      ["::1:0", ["0.1.0.0"]],
      ["::1:1", ["0.1.0.1"]],
    ] as const) {
      deepEqual(embeddedIpv4(ipv6Groups(ip) ?? []), embedded, ip);
    }
  });

  it("local NAT64 is read from every byte that a layout uses", () => {
    const local = ipv6Groups("64:ff9b:1:102:304:506:708:90a") ?? [];
    deepEqual(embeddedIpv4(local), ["1.2.4.5", "2.4.5.6", "4.5.6.7", "7.8.9.10"]);
    deepEqual(embeddedIpv4(ipv6Groups("64:ff9b:1::") ?? []), ["0.0.0.0"]);
    // Only the third group makes it local.
    deepEqual(embeddedIpv4(ipv6Groups("64:ff9b:2:102:304:506:708:90a") ?? []), ["7.8.9.10"]);
  });

  it("any other address is none", () => deepEqual(embeddedIpv4(PUBLIC), []));
});

describe("the groups of an IPv6 address", () => {
  it("are eight numbers, however it is written", () => {
    const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, (numbers) => {
        const hex = numbers.map((number) => number.toString(16));
        const padded = hex.map((group) => group.padStart(4, "0").toUpperCase()).join(":");
        deepEqual(ipv6Groups(hex.join(":")), numbers);
        deepEqual(ipv6Groups(padded), numbers);
        equal(canonicalIp(padded), hex.join(":"));
      }),
    );
    deepEqual(ipv6Groups("::"), [0, 0, 0, 0, 0, 0, 0, 0]);
    deepEqual(ipv6Groups("1::"), [1, 0, 0, 0, 0, 0, 0, 0]);
    deepEqual(ipv6Groups("1:2::3:4.5.6.7"), [1, 2, 0, 0, 0, 3, 0x405, 0x607]);
    deepEqual(ipv6Groups("1:2:3:4:5:6:10.11.12.13"), [1, 2, 3, 4, 5, 6, 0x0a0b, 0x0c0d]);
  });

  it("are none of an IPv4 address, a name, or an address with a zone", () => {
    for (const text of ["1.2.3.4", "name", "", "fe80::1%eth0"]) equal(ipv6Groups(text), undefined, text);
  });
});
