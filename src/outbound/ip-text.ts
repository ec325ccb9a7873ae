/** Reading IP addresses as numbers: the eight groups of an IPv6 address and the IPv4 addresses hidden in it. */
import { isIPv4, isIPv6 } from "node:net";

/** The eight 16-bit groups of an IPv6 address, or undefined for anything else (a zone such as `%eth0` too). */
export function ipv6Groups(ip: string): readonly number[] | undefined {
  if (!isIPv6(ip) || ip.includes("%")) return undefined;
  const [head = "", tail] = ip.split("::");
  const before = groupsOf(head);
  if (tail === undefined) return before;
  const after = groupsOf(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...zeros, ...after];
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** One spelling for each address, for comparing; undefined when it is not an IP address. */
export function canonicalIp(ip: string): string | undefined {
  if (isIPv4(ip)) return ip;
  return ipv6Groups(ip)
    ?.map((group) => group.toString(16))
    .join(":");
}

/**
 * Every IPv4 address that an IPv6 address carries by a published form:
 * compatible and mapped (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052 and
 * 8215), 6to4 (RFC 3056), Teredo server and client (RFC 4380), ISATAP (RFC 5214).
 * Empty when it carries none. `::` and `::1` are not counted as compatible.
 */
export function embeddedIpv4(groups: readonly number[]): string[] {
  const [g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0] = groups;
  const last = ipv4Of(g6, g7);
  if (g0 === 0 && g1 === 0 && g2 === 0 && g3 === 0) {
    if (g4 === 0 && g5 === 0) return g6 === 0 && g7 <= 1 ? [] : [last];
    if (g4 === 0 && g5 === 0xffff) return [last];
    if (g4 === 0xffff && g5 === 0) return [last];
  }
  if (g0 === 0x64 && g1 === 0xff9b) {
    return g2 === 1 ? localNat64(groups, last) : [last];
  }
  if (g0 === 0x2002) return [ipv4Of(g1, g2)];
  if (g0 === 0x2001 && g1 === 0) return [ipv4Of(g2, g3), ipv4Of(g6 ^ 0xffff, g7 ^ 0xffff)];
  if ((g4 & 0xfdff) === 0 && g5 === 0x5efe) return [last];
  return [];
}

/**
 * RFC 8215 leaves open how long the prefix inside 64:ff9b:1::/48 is, and RFC 6052
 * section 2.2 lays the address out differently for each length: all are read.
 * 0.0.0.0/8 is what a layout that is not used reads from zeros, and is left out.
 */
function localNat64(groups: readonly number[], last: string): string[] {
  const [, , , g3 = 0, g4 = 0, g5 = 0, g6 = 0] = groups;
  const layouts = [
    ipv4Of(g3, ((g4 & 0xff) << 8) | (g5 >> 8)),
    ipv4Of(((g3 & 0xff) << 8) | (g4 & 0xff), g5),
    ipv4Of(((g4 & 0xff) << 8) | (g5 >> 8), ((g5 & 0xff) << 8) | (g6 >> 8)),
    last,
  ].filter((address) => !address.startsWith("0."));
  return layouts.length > 0 ? layouts : [last];
}

function ipv4Of(high: number, low: number): string {
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}
