import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { Address4, Address6 } from "ip-address";
import { inRanges, judgeAddress, makeAddressPolicy, METADATA_ADDRESSES } from "./address-rules.ts";
import {
  IANA_IPV4_BLOCKS,
  IANA_IPV6_BLOCKS,
  IANA_REGISTRIES,
  OTHER_SPECIAL_BLOCKS,
} from "./iana-special-purpose.ts";
import { canonicalIp, embeddedIpv4, ipv6Groups } from "./ip-text.ts";

const NONE = makeAddressPolicy({ allowedCidrs: [], deniedCidrs: [] });

function judge(ip: string, policy = NONE): string {
  const verdict = judgeAddress(ip, policy);
  return verdict.ok ? "ok" : verdict.rule;
}

function opened(...allowedCidrs: string[]) {
  return makeAddressPolicy({ allowedCidrs, deniedCidrs: [] });
}

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.0.3.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2000::1",
  "2001:200::1",
  "2001:4860:4860::8888",
  "2606:4700:4700::1111",
  "2620:4f:8001::1",
  "3fff:1000::1",
];

const BLOCKS = [...IANA_IPV4_BLOCKS, ...IANA_IPV6_BLOCKS, ...OTHER_SPECIAL_BLOCKS];
const read = (text: string) => (text.includes(":") ? new Address6(text) : new Address4(text));

/** The addresses just before and just after a block, if any. */
function neighboursOf(cidr: string): string[] {
  const [first, last] = [read(cidr).startAddress().bigInt(), read(cidr).endAddress().bigInt()];
  const highest = cidr.includes(":") ? (1n << 128n) - 1n : (1n << 32n) - 1n;
  return [first - 1n, last + 1n]
    .filter((number) => number >= 0n && number <= highest)
    .map((number) =>
      (cidr.includes(":") ? Address6.fromBigInt(number) : Address4.fromBigInt(number)).correctForm(),
    );
}

/** Whether only the tables speak: no IPv4 inside, no metadata service. */
function isOpenByTables(ip: string): boolean {
  const address = read(ip);
  const inBlock = BLOCKS.some(({ cidr }) => {
    const block = read(cidr);
    return block instanceof Address4
      ? address instanceof Address4 && address.isInSubnet(block)
      : address instanceof Address6 && address.isInSubnet(block);
  });
  return !inBlock && (address instanceof Address4 || address.isInSubnet(new Address6("2000::/3")));
}

const { ipv4, ipv6 } = IANA_REGISTRIES;
describe(`the address rules, by the registries of ${ipv4.lastUpdated} and ${ipv6.lastUpdated},`, () => {
  for (const { cidr, name } of BLOCKS) {
    it(`refuse ${cidr} (${name}) from end to end, and take what lies beside it`, () => {
      const block = read(cidr);
      const [first, last] = [block.startAddress(), block.endAddress()];
      const middle = first.bigInt() + (last.bigInt() - first.bigInt()) / 2n;
      const between = cidr.includes(":") ? Address6.fromBigInt(middle) : Address4.fromBigInt(middle);
      for (const address of [first, between, last]) {
        const ip = address.correctForm();
        ok(judge(ip) !== "ok", ip);
      }
      for (const ip of neighboursOf(cidr)) equal(judge(ip) === "ok", isOpenByTables(ip), ip);
    });
  }

  it("have each row of the registries once", () => {
    const rows = [...IANA_IPV4_BLOCKS, ...IANA_IPV6_BLOCKS].map(({ cidr }) => cidr);
    equal(new Set(rows).size, rows.length);
    // 25 rows each; 192.0.0.170 and 192.0.0.171 share one.
    deepEqual([IANA_IPV4_BLOCKS.length, IANA_IPV6_BLOCKS.length], [26, 25]);
  });

  for (const ip of PUBLIC) it(`take ${ip}`, () => equal(judge(ip), "ok"));

  it("refuse every IPv6 address outside 2000::/3", () => {
    for (const ip of ["::2:1:1", "1fff:ffff::1", "4000::1", "5f00::1", "8000::", "c000::", "fbff::1"]) {
      ok(judge(ip) !== "ok", ip);
    }
  });

  it("refuse what is not an address", () => {
    const texts = [
      "",
      "localhost",
      "1.2.3",
      "01.2.3.4",
      "1.2.3.4.",
      "fe80::1%eth0",
      "2606:4700::1%1",
      "[::1]",
      " 1.1.1.1",
    ];
    for (const text of texts) equal(judge(text), "not_an_address", text);
  });

  it("agree with ip-address on what is private, loopback, link-local or multicast", () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        const other = new Address4(ip);
        const special = other.isPrivate() || other.isLoopback() || other.isLinkLocal() || other.isMulticast();
        if (special || other.isReserved() || other.isBroadcast() || other.isCGNAT())
          ok(judge(ip) !== "ok", ip);
      }),
      { numRuns: 3_000 },
    );
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        const other = new Address6(ip);
        const special = other.isLinkLocal() || other.isLoopback() || other.isMulticast() || other.isULA();
        if (special || other.isTeredo() || other.is6to4()) ok(judge(ip) !== "ok", ip);
      }),
      { numRuns: 3_000 },
    );
  });

  it("refuse every address of each block, wherever in it", () => {
    for (const { cidr } of IANA_IPV4_BLOCKS) {
      const block = new Address4(cidr);
      const [first, last] = [block.startAddress().bigInt(), block.endAddress().bigInt()];
      fc.assert(
        fc.property(fc.bigInt({ min: first, max: last }), (number) => {
          ok(judge(Address4.fromBigInt(number).correctForm()) !== "ok");
        }),
      );
    }
  });
});

describe("IPv4 inside IPv6", () => {
  const forms: Record<string, (high: string, low: string, dotted: string) => string> = {
    "mapped, dotted": (_high, _low, dotted) => `::ffff:${dotted}`,
    mapped: (high, low) => `::ffff:${high}:${low}`,
    "mapped, in full": (high, low) => `0:0:0:0:0:ffff:${high}:${low}`,
    compatible: (high, low) => `::${high}:${low}`,
    translated: (high, low) => `::ffff:0:${high}:${low}`,
    NAT64: (high, low) => `64:ff9b::${high}:${low}`,
    "local NAT64": (high, low) => `64:ff9b:1::${high}:${low}`,
    "6to4": (high, low) => `2002:${high}:${low}::1`,
    "Teredo server": (high, low) => `2001:0:${high}:${low}:8000:63bf:f7f7:f7f7`,
    ISATAP: (high, low) => `2606:4700::5efe:${high}:${low}`,
    "ISATAP, universal": (high, low) => `2606:4700::200:5efe:${high}:${low}`,
  };
  for (const [name, form] of Object.entries(forms)) {
    it(`as ${name} is read, refused when private, and refused when public unless opened`, () => {
      ok(embeddedIpv4(ipv6Groups(form("a00", "1", "10.0.0.1")) ?? []).includes("10.0.0.1"));
      equal(judge(form("a00", "1", "10.0.0.1")), "not_public");
      equal(judge(form("a9fe", "a9fe", "169.254.169.254"), opened("::/0")), "metadata_address");
      equal(judge(form("808", "808", "8.8.8.8")), "embedded_ipv4");
      equal(judge(form("808", "808", "8.8.8.8"), opened("::/0")), "ok");
      equal(judge(form("a00", "1", "10.0.0.1"), opened("10.0.0.0/8")), "embedded_ipv4");
      const denied = makeAddressPolicy({ allowedCidrs: ["::/0"], deniedCidrs: ["8.8.8.0/24"] });
      equal(judge(form("808", "808", "8.8.8.8"), denied), "denied_range");
    });
  }

  it("as local NAT64 is read in every layout of RFC 6052", () => {
    // 192.0.2.33 behind prefixes of 48, 56, 64 and 96 bits.
    for (const ip of [
      "64:ff9b:1:c000:2:2100::",
      "64:ff9b:1:c0:0:221::",
      "64:ff9b:1:0:c0:2:2100:0",
      "64:ff9b:1::c000:221",
    ]) {
      ok(embeddedIpv4(ipv6Groups(ip) ?? []).includes("192.0.2.33"), ip);
    }
  });

  it("as Teredo client is read with its bits turned", () => {
    // RFC 4380 section 4: 192.0.2.45 as 3fff:fdd2.
    const groups = ipv6Groups("2001:0:4136:e378:8000:63bf:3fff:fdd2") ?? [];
    equal(embeddedIpv4(groups).join(), "65.54.227.120,192.0.2.45");
  });
});

describe("metadata addresses", () => {
  it("are those that clouds document", () => {
    const documented = [
      ["169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23", "169.254.42.42"],
      ["168.63.129.16", "100.100.100.200", "192.0.0.192"],
      [
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fd00:c1::a9fe:a9fe",
        "fd00:42::42",
        "fe80::a9fe:a9fe",
      ],
    ].flat();
    deepEqual(METADATA_ADDRESSES.toSorted(), documented.toSorted());
  });

  for (const ip of ["168.63.129.15", "168.63.129.17"]) {
    it(`do not include ${ip}, which is assigned`, () => equal(judge(ip), "ok"));
  }

  for (const ip of METADATA_ADDRESSES) {
    it(`${ip} stays closed whatever is opened`, () => {
      equal(judge(ip), "metadata_address");
      equal(judge(ip, opened("0.0.0.0/0", "::/0", ip)), "metadata_address");
    });
  }

  it("say so where the operator denied them too", () => {
    const denied = makeAddressPolicy({ allowedCidrs: [], deniedCidrs: METADATA_ADDRESSES });
    for (const ip of METADATA_ADDRESSES) equal(judge(ip, denied), "metadata_address");
  });

  it("of IPv6 stay closed in any spelling", () => {
    equal(judge("FD00:0EC2:0:0:0:0:0:0254", opened("fd00::/8")), "metadata_address");
  });
});

describe("the operator's ranges", () => {
  it("open what they name and nothing beside it", () => {
    const policy = opened("127.0.0.0/8", "10.1.2.3", "fd12::/16");
    for (const ip of ["127.0.0.1", "127.255.255.255", "10.1.2.3", "fd12::9", "1.1.1.1"])
      equal(judge(ip, policy), "ok");
    for (const ip of ["10.1.2.4", "::1", "fd13::1", "192.168.0.1"]) equal(judge(ip, policy), "not_public");
  });

  it("close what is denied, whether public or opened", () => {
    const policy = makeAddressPolicy({
      allowedCidrs: ["10.0.0.0/8"],
      deniedCidrs: ["10.9.0.0/16", "1.1.1.1/32"],
    });
    equal(judge("10.8.0.1", policy), "ok");
    equal(judge("10.9.0.1", policy), "denied_range");
    equal(judge("1.1.1.1", policy), "denied_range");
  });

  it("of IPv6 open no IPv4 address", () => {
    equal(judge("10.0.0.1", opened("::ffff:0:0/96", "::/0")), "not_public");
  });

  for (const bad of [
    "",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0/8",
    "fd00::/129",
    "a/8",
    "10.0.0.0/",
    "fe80::%1/64",
    "10.0.0.0/0x8",
  ]) {
    it(`refuse ${JSON.stringify(bad)} with its text in the message`, () => {
      throws(
        () => opened(bad),
        (error: Error) => error.message.includes(`"${bad}" is not an address range`),
      );
    });
  }
});

describe("an address in given ranges", () => {
  const isInside = inRanges(["10.0.0.0/8", "fd00::/8", "1.1.1.1"]);
  for (const [ip, expected] of [
    ["10.255.255.255", true],
    ["11.0.0.0", false],
    ["1.1.1.1", true],
    ["1.1.1.2", false],
    ["fdff::1", true],
    ["fe00::1", false],
    ["::ffff:10.0.0.1", false],
    ["ten.example.com", false],
    ["", false],
  ] as const) {
    it(`${JSON.stringify(ip)} is ${expected ? "found" : "not found"}`, () => equal(isInside(ip), expected));
  }
});

describe("one spelling for an address", () => {
  it("is the same for all spellings of it, as ip-address reads them", () => {
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        equal(canonicalIp(ip), canonicalIp(new Address6(ip).correctForm()));
        equal(canonicalIp(ip), canonicalIp(new Address6(ip).canonicalForm()));
      }),
    );
    equal(canonicalIp("1.2.3.4"), "1.2.3.4");
    equal(canonicalIp("name"), undefined);
  });
});
