/** The address of a caller: as it is logged, and as it is counted. */
import { canonicalIp, embeddedIpv4, ipv6Groups } from "../outbound/ip-text.ts";

/**
 * What a request knows of where it came from; `ip` as the framework reads it past trusted proxies.
 * Both are undefined where the client was gone before its connection was accepted.
 */
type Source = { ip: string | undefined; socket: { remoteAddress?: string | undefined } };

/**
 * Without trusted proxies the other end of the connection. With them the
 * address that the last of them saw: addresses further left in
 * X-Forwarded-For come from untrusted callers. A word there that
 * is no address counts as the proxy's own.
 */
export function callerAddress({ ip, socket }: Source): string {
  return plainAddress(ip ?? "") ?? plainAddress(socket.remoteAddress ?? "") ?? "unknown";
}

/** What an address is counted under: IPv4 as it is, IPv6 by its /64, of which one caller has all. */
export function addressKey(address: string): string {
  const groups = ipv6Groups(address);
  if (groups === undefined) return address;
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

/** Without a zone; IPv4 that a socket for both families shows as IPv6 as what it is. Null for no address. */
function plainAddress(given: string): string | null {
  const [address = ""] = given.split("%");
  const groups = ipv6Groups(address);
  if (groups === undefined) return canonicalIp(address) ?? null;
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? (embeddedIpv4(groups)[0] ?? null) : address;
}
