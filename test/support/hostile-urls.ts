/**
 * URLs and addresses as an attacker would write them, by a grammar and a seed:
 * every spelling of an address, every way to hide a host, and slips of the pen.
 * Most lie near the edge of some rule; some are as good as any.
 */
import {
  IANA_IPV4_BLOCKS,
  IANA_IPV6_BLOCKS,
  OTHER_SPECIAL_BLOCKS,
} from "../../src/outbound/iana-special-purpose.ts";
import { Address4, Address6 } from "ip-address";
import { CLOSED_IPV4, CLOSED_IPV6 } from "./url-oracle.ts";

type Random = () => number;

const MAX_IPV4 = 0xffff_ffffn;
const MAX_IPV6 = (1n << 128n) - 1n;
const ISATAP = 0x5efen << 32n;

const blocks = [...IANA_IPV4_BLOCKS, ...IANA_IPV6_BLOCKS, ...OTHER_SPECIAL_BLOCKS].map(({ cidr }) => cidr);
const ipv4Edges = [
  ...blocks.filter((cidr) => !cidr.includes(":")).map((cidr) => new Address4(cidr)),
  ...CLOSED_IPV4,
].flatMap(edgesOf);
const ipv6Edges = [
  ...blocks.filter((cidr) => cidr.includes(":")).map((cidr) => new Address6(cidr)),
  ...CLOSED_IPV6,
].flatMap(edgesOf);
const metadataIpv4 = ["169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192"].map((ip) =>
  new Address4(ip).bigInt(),
);
const metadataIpv6 = ["fd00:ec2::254", "fd20:ce::254", "fe80::a9fe:a9fe"].map((ip) =>
  new Address6(ip).bigInt(),
);

function edgesOf(block: Address4 | Address6): bigint[] {
  return [block.startAddress().bigInt(), block.endAddress().bigInt()];
}

/** A hostile text that may be a URL. */
export function hostileUrl(random: Random): string {
  const scheme = rarely(random, 0.06)
    ? pick(random, SCHEMES)
    : pick(random, ["https://", "https://", "HTTPS://", "hTTps://"]);
  const userinfo = rarely(random, 0.04)
    ? pick(random, ["a@", "a:b@", "@", ":@", "1.1.1.1@", "shop.dev:443@"])
    : "";
  const port = rarely(random, 0.25) ? pick(random, PORTS) : "";
  const rest = rarely(random, 0.5) ? pick(random, RESTS) : "";
  const url = scheme + userinfo + hostileHost(random) + port + rest;
  return rarely(random, 0.25) ? slip(random, url) : url;
}

/** A hostile text that may be an IP address, as a resolver could answer or a URL contain it. */
export function hostileAddress(random: Random): string {
  const text = rarely(random, 0.5) ? spellIpv6(random, someIpv6(random)) : plainIpv4(someIpv4(random));
  return rarely(random, 0.1) ? slip(random, text) : text;
}

function hostileHost(random: Random): string {
  const kind = random();
  if (kind < 0.3) return spellIpv4(random, someIpv4(random));
  if (kind < 0.55)
    return `[${spellIpv6(random, someIpv6(random))}${rarely(random, 0.03) ? pick(random, ["%25eth0", "%1", "%"]) : ""}]`;
  return hostileName(random);
}

function hostileName(random: Random): string {
  const count = 1 + Math.floor(random() * 4);
  const labels = Array.from({ length: count }, () => pick(random, LABELS));
  const end = pick(random, ENDS);
  const name = [...labels, ...(end === "" ? [] : [end])].join(
    rarely(random, 0.08) ? pick(random, DOTS) : ".",
  );
  return name + (rarely(random, 0.1) ? pick(random, [".", " .", "..", "\u3002"]) : "");
}

function someIpv4(random: Random): bigint {
  const kind = random();
  if (kind < 0.6) return clamp(pick(random, ipv4Edges) + BigInt(Math.floor(random() * 5) - 2), MAX_IPV4);
  if (kind < 0.7) return pick(random, metadataIpv4);
  return BigInt(Math.floor(random() * 4_294_967_296));
}

function someIpv6(random: Random): bigint {
  const inner = someIpv4(random);
  const kind = random();
  if (kind < 0.35) return clamp(pick(random, ipv6Edges) + BigInt(Math.floor(random() * 5) - 2), MAX_IPV6);
  if (kind < 0.4) return pick(random, metadataIpv6);
  if (kind < 0.7) return embed(random, inner);
  const low = (BigInt(Math.floor(random() * 2 ** 48)) << 16n) | BigInt(Math.floor(random() * 65_536));
  const high = BigInt(Math.floor(random() * 2 ** 45)) << 80n;
  return kind < 0.9 ? (1n << 125n) | high | low : clamp((high << 3n) | low, MAX_IPV6);
}

/** An IPv6 address that carries the IPv4 address in one of the published forms. */
function embed(random: Random, inner: bigint): bigint {
  return pick(random, [
    (0xffffn << 32n) | inner,
    inner,
    (0xffff_0000n << 32n) | inner,
    (0x0064_ff9bn << 96n) | inner,
    (0x0064_ff9b_0001n << 80n) | inner,
    (0x2002n << 112n) | (inner << 80n) | 1n,
    (0x2001_0000n << 96n) | (inner << 64n) | (inner ^ MAX_IPV4),
    (0x2606_4700n << 96n) | ISATAP | inner,
    (0x2606_4700n << 96n) | (0x0200n << 48n) | ISATAP | inner,
  ]);
}

function plainIpv4(value: bigint): string {
  return octetsOf(value).join(".");
}

function octetsOf(value: bigint): number[] {
  const number = Number(value);
  return [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255];
}

/** Half the time plain; else in one of the spellings that a parser of URLs forgives, or nearly. */
function spellIpv4(random: Random, value: bigint): string {
  if (rarely(random, 0.5)) return plainIpv4(value);
  const [a = 0, b = 0, c = 0, d = 0] = octetsOf(value);
  const mixed = [a, b, c, d].map((octet) =>
    pick(random, [String(octet), `0x${octet.toString(16)}`, `0${octet.toString(8)}`, `00${octet}`]),
  );
  return pick(random, [
    String(value),
    `0x${value.toString(16)}`,
    `0X${value.toString(16).padStart(8, "0")}`,
    `0${value.toString(8)}`,
    `${a}.${b * 65_536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    mixed.join("."),
    unicodeDigits(random, plainIpv4(value)),
    plainIpv4(value).replaceAll(".", pick(random, DOTS)),
    `${plainIpv4(value)}.`,
    `${plainIpv4(value)}.0`,
    percentEncode(random, plainIpv4(value)),
    String(value + (1n << 32n)),
  ]);
}

function spellIpv6(random: Random, value: bigint): string {
  const address = Address6.fromBigInt(value);
  const dotted = plainIpv4(value & MAX_IPV4);
  return pick(random, [
    address.correctForm(),
    address.correctForm(),
    address.canonicalForm(),
    address.canonicalForm().toUpperCase(),
    address.canonicalForm().replace(/[^:]+:[^:]+$/, dotted),
  ]);
}

function unicodeDigits(random: Random, text: string): string {
  const zero = pick(random, [0xff10, 0x0660, 0x06f0, 0x0966, 0x1d7ce, 0x1d7d8, 0x2080]);
  return text.replace(/[0-9]/g, (digit) =>
    rarely(random, 0.6) ? String.fromCodePoint(zero + Number(digit)) : digit,
  );
}

function percentEncode(random: Random, text: string): string {
  return text.replace(/./g, (character) =>
    rarely(random, 0.3) ? `%${character.charCodeAt(0).toString(16).padStart(2, "0")}` : character,
  );
}

/** One hostile character put in, taken out or doubled, anywhere. */
function slip(random: Random, text: string): string {
  const at = Math.floor(random() * (text.length + 1));
  const kind = random();
  if (kind < 0.7) return text.slice(0, at) + pick(random, SLIPS) + text.slice(at);
  return kind < 0.85
    ? text.slice(0, at) + text.slice(at + 1)
    : text.slice(0, at) + text.slice(Math.max(0, at - 1));
}

function rarely(random: Random, chance: number): boolean {
  return random() < chance;
}

function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("there is nothing to pick from");
  return item;
}

function clamp(value: bigint, max: bigint): bigint {
  return value < 0n ? 0n : value > max ? max : value;
}

const SCHEMES = [
  "http://",
  "https:/",
  "https:",
  "https:///",
  "https:\\\\",
  "//",
  "ftp://",
  "file://",
  "gopher://",
  "javascript:",
  "wss://",
  "https;//",
  "httрs://",
  "",
];
const PORTS = [
  ":",
  ":443",
  ":8443",
  ":0",
  ":22",
  ":0022",
  ":6379",
  ":65535",
  ":65536",
  ":99999999999999999999",
  ":-1",
  ":８０",
  ":4 43",
  ":443:443",
  ":0x16",
  ":+443",
];
const RESTS = [
  "/",
  "/in?x=1#y",
  "?q",
  "#f",
  "/@127.0.0.1/",
  "?u=http://169.254.169.254/",
  "/..%2f..%2f",
  "/#\\",
  "/%00",
  "/://user:pw@localhost",
  "/\u00a0",
  "/ü",
];
const DOTS = ["\u3002", "\uff0e", "\uff61", "%2e", "..", ".\u200b", "\u2024"];
const LABELS = [
  "shop",
  "hooks",
  "a",
  "a-b",
  "-a",
  "a-",
  "a--b",
  "xn--bcher-kva",
  "xn--a",
  "xn--",
  "bücher",
  "ＳＨＯＰ",
  "ß",
  "ſ",
  "İ",
  "日本",
  "\u0430pple",
  "sh_op",
  "*",
  "1e100",
  "0x7f",
  "127",
  "localhost",
  "metadata",
  "\u00ad",
  "a\u200db",
  "x".repeat(63),
  "x".repeat(64),
  "",
  "ab".repeat(30),
];
const ENDS = [
  "dev",
  "com",
  "",
  "localhost",
  "ｌｏｃａｌｈｏｓｔ",
  "internal",
  "INTERNAL",
  "local",
  "ⓛocal",
  "test",
  "home.arpa",
  "example",
  "example.com",
  "onion",
  "0",
  "1",
  "0x1",
  "0xg",
  "09",
  "xn--p1ai",
  "рф",
  "in-addr.arpa",
  "c0m",
  "1a",
  "google.internal",
];
const SLIPS = [
  "@",
  ":",
  "/",
  "\\",
  "?",
  "#",
  "%",
  "[",
  "]",
  " ",
  "\t",
  "\n",
  "\r",
  "\0",
  "\u007f",
  "\u0085",
  "\u009f",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "\u200b",
  "\u202e",
  "\u00ad",
  ".",
  "\u3002",
  "-",
  "_",
  "0",
  "１",
  "é",
  "\ud800",
  "\udc00",
  "😀",
  "<",
  "^",
  "|",
  "`",
  "{",
  "ª",
  "℀",
  "／",
  "＠",
  "％",
  "：",
  "%00",
  "%2f",
];
