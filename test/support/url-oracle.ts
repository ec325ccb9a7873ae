/**
 * A second opinion on which URLs and addresses are safe, to compare the rules of
 * src/outbound with: written from what is decided, not from their code.
 *
 * Addresses are read and classified by `ip-address`, with its own parser and its
 * own table of special-purpose blocks; the URL is taken apart by hand. What both
 * sides share is Node's mapping of international names to ASCII (UTS #46).
 */
import { domainToASCII } from "node:url";
import { Address4, Address6 } from "ip-address";

export type Opinion = "unsafe" | `${string} ${number}`;

export type OraclePolicy = { blockedPorts: ReadonlySet<number> };

// Blocks that the registries call globally reachable, or that are outside them: no place for a receiver.
export const CLOSED_IPV4 = [
  "192.0.0.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.175.48.0/24",
  "168.63.129.16/32",
].map((cidr) => new Address4(cidr));
export const CLOSED_IPV6 = ["2001::/23", "2620:4f:8000::/48", "3ffe::/16"].map((cidr) => new Address6(cidr));
const SPECIAL_NAME =
  /(^|\.)(localhost|local|internal|home\.arpa|onion|test|invalid|example|alt|lan|home|corp|intranet|private|localdomain|in-addr\.arpa|ip6\.arpa)$/;
const ISATAP_MASK = 0xfdff_ffffn;
const ISATAP_TAG = 0x0000_5efen;

/** Whether an address may be dialled; false for a text that is no address. */
export function oracleTakesAddress(text: string): boolean {
  const ipv4 = readIpv4(text);
  if (ipv4 !== null) return ipv4.isGlobal() && !CLOSED_IPV4.some((block) => ipv4.isInSubnet(block));
  const ipv6 = readIpv6(text);
  if (ipv6 === null) return false;
  // An IPv4 address inside, private or not, has no business in a public address.
  const carriesIpv4 = ipv6.embeddedIPv4() !== null || ipv6.isTeredo() || ipv6.is6to4() || isIsatap(ipv6);
  return ipv6.isGlobal() && !carriesIpv4 && !CLOSED_IPV6.some((block) => ipv6.isInSubnet(block));
}

/** `host port` of a URL that may be stored, IPv6 in its shortest form; nothing is looked up. */
export function oracleTakesUrl(text: string, { blockedPorts }: OraclePolicy): Opinion {
  if (text.length > 2048 || !/^https:\/\//i.test(text)) return "unsafe";
  if (/\p{Cc}|\p{Cs}|\s|\\/u.test(text)) return "unsafe";
  const [, authority = ""] = /^https:\/\/([^/?#]*)/i.exec(text) ?? [];
  const [, bracketed, name, portText = ""] =
    /^(?:\[([^\]]*)\]|([^:[\]@%]+))(?::([0-9]*))?$/.exec(authority) ?? [];
  const port = portText === "" ? 443 : Number(portText);
  if (port > 65_535 || blockedPorts.has(port)) return "unsafe";
  if (bracketed !== undefined) {
    return oracleTakesAddress(bracketed) && readIpv6(bracketed) !== null
      ? `${new Address6(bracketed).correctForm()} ${port}`
      : "unsafe";
  }
  const host = name === undefined ? null : readHost(name);
  return host === null ? "unsafe" : `${host} ${port}`;
}

/** The host in lower case and ASCII without a final dot, or null where it is no public name or address. */
function readHost(written: string): string | null {
  const needsMapping = /[^\u0021-\u007e]|xn--/i.test(written);
  const ascii = needsMapping ? domainToASCII(written) : written.toLowerCase();
  const bare = ascii.replace(/\.$/, "");
  const labels = bare.split(".");
  const last = labels.at(-1) ?? "";
  // What ends in a number is an address to a parser of URLs, however it is written: only the plain form is one here.
  if (/^([0-9]+|0x[0-9a-f]*)$/.test(last))
    return written === ascii && oracleTakesAddress(written) ? written : null;
  const isName =
    bare.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => label.length <= 63 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label));
  return isName && !SPECIAL_NAME.test(bare) ? bare : null;
}

function readIpv4(text: string): Address4 | null {
  return /^[0-9.]+$/.test(text) && !/(^|\.)0[0-9]/.test(text) && Address4.isValid(text)
    ? new Address4(text)
    : null;
}

function readIpv6(text: string): Address6 | null {
  return /^[0-9a-f:.]+$/i.test(text) && Address6.isValid(text) ? new Address6(text) : null;
}

function isIsatap(address: Address6): boolean {
  return ((address.bigInt() >> 32n) & ISATAP_MASK) === ISATAP_TAG;
}
