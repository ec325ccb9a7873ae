/**
 * Which addresses may be dialled: the public ones, and those the operator opened.
 *
 * IPv4 and IPv6 have lists of their own: `BlockList` also checks an IPv4 address
 * against IPv6 rules by its mapped form, so one `::ffff:0:0/96` in a common list
 * would match every IPv4 address.
 *
 * Order: metadata services are closed whatever the operator says; what the
 * operator denied is closed; IPv4 inside IPv6 is judged as that IPv4 address and
 * needs its IPv6 form opened as well; what the operator opened is open; what is
 * special-purpose, or IPv6 outside 2000::/3 (the only global unicast in use,
 * RFC 4291 section 2.4), is closed.
 */
import { BlockList, isIP, isIPv4 } from "node:net";
import { IANA_IPV4_BLOCKS, IANA_IPV6_BLOCKS, OTHER_SPECIAL_BLOCKS } from "./iana-special-purpose.ts";
import { embeddedIpv4, ipv6Groups } from "./ip-text.ts";

export type AddressRule =
  | "not_an_address"
  | "metadata_address"
  | "denied_range"
  | "embedded_ipv4"
  | "not_public";

export type AddressVerdict = { ok: true } | { ok: false; rule: AddressRule };

type FamilyLists = { ipv4: BlockList; ipv6: BlockList };

/** Made once at start-up by `makeAddressPolicy`. */
export type AddressPolicy = { allowed: FamilyLists; denied: FamilyLists };

/**
 * Addresses where clouds hand credentials to any caller inside. Some lie
 * in public or operator-owned ranges, so they are listed apart and never opened.
 */
export const METADATA_ADDRESSES: readonly string[] = [
  "169.254.169.254", // AWS, Azure, Google, Oracle, DigitalOcean, OpenStack, …
  "169.254.170.2", // AWS ECS task credentials
  "169.254.170.23", // AWS EKS pod identity
  "169.254.0.23", // Tencent
  "169.254.42.42", // Scaleway
  "168.63.129.16", // Azure WireServer, in a public range
  "100.100.100.200", // Alibaba
  "192.0.0.192", // Oracle Cloud classic
  "fd00:ec2::254", // AWS
  "fd00:ec2::23", // AWS EKS pod identity
  "fd20:ce::254", // Google
  "fd00:c1::a9fe:a9fe", // Oracle
  "fd00:42::42", // Scaleway
  "fe80::a9fe:a9fe", // OpenStack
];

const OPEN: AddressVerdict = { ok: true };
const metadata = listOf(METADATA_ADDRESSES);
const special = listOf(
  [...IANA_IPV4_BLOCKS, ...IANA_IPV6_BLOCKS, ...OTHER_SPECIAL_BLOCKS].map((block) => block.cidr),
);

/** Parses the operator's ranges (`10.0.0.0/8`, `fd00::/8`, a single address). Throws an Error that names the bad one. */
export function makeAddressPolicy(ranges: {
  allowedCidrs: readonly string[];
  deniedCidrs: readonly string[];
}): AddressPolicy {
  return { allowed: listOf(ranges.allowedCidrs), denied: listOf(ranges.deniedCidrs) };
}

/** Whether an address lies in one of the ranges; false for what is no address. */
export function inRanges(cidrs: readonly string[]): (ip: string) => boolean {
  const lists = listOf(cidrs);
  return (ip) => isIP(ip) !== 0 && contains(lists, ip);
}

/** Judges one IP address as a resolver or a URL gave it (no brackets, no zone). */
export function judgeAddress(ip: string, policy: AddressPolicy): AddressVerdict {
  const groups = ipv6Groups(ip);
  if (groups === undefined && !isIPv4(ip)) return closed("not_an_address");
  if (contains(metadata, ip)) return closed("metadata_address");
  if (contains(policy.denied, ip)) return closed("denied_range");
  const opened = contains(policy.allowed, ip);
  if (groups !== undefined) {
    const embedded = embeddedIpv4(groups);
    if (embedded.length > 0) return judgeEmbedded(embedded, opened, policy);
  }
  if (opened) return OPEN;
  const globalUnicast = groups === undefined || (groups[0] ?? 0) >> 13 === 1;
  return globalUnicast && !contains(special, ip) ? OPEN : closed("not_public");
}

function judgeEmbedded(embedded: readonly string[], opened: boolean, policy: AddressPolicy): AddressVerdict {
  // A translator on the way would deliver to the inner address, so it must be good in itself.
  for (const inner of embedded) {
    const verdict = judgeAddress(inner, policy);
    if (!verdict.ok) return verdict;
  }
  return opened ? OPEN : closed("embedded_ipv4");
}

function closed(rule: AddressRule): AddressVerdict {
  return { ok: false, rule };
}

function contains(lists: FamilyLists, ip: string): boolean {
  return isIPv4(ip) ? lists.ipv4.check(ip, "ipv4") : lists.ipv6.check(ip, "ipv6");
}

function listOf(cidrs: readonly string[]): FamilyLists {
  const lists: FamilyLists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const cidr of cidrs) addCidr(lists, cidr);
  return lists;
}

function addCidr(lists: FamilyLists, cidr: string): void {
  const [network = "", prefixText, ...rest] = cidr.split("/");
  const family = isIP(network);
  const widest = family === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? widest : Number(prefixText);
  const prefixIsPlain = prefixText === undefined || /^\d{1,3}$/.test(prefixText);
  if (family === 0 || network.includes("%") || rest.length > 0 || !prefixIsPlain || prefix > widest) {
    throw new Error(
      `"${cidr}" is not an address range. Write it as 10.0.0.0/8, fd00::/8 or a single address such as 10.1.2.3.`,
    );
  }
  if (family === 4) lists.ipv4.addSubnet(network, prefix, "ipv4");
  else lists.ipv6.addSubnet(network, prefix, "ipv6");
}
