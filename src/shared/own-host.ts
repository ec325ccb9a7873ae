/**
 * The host by which this machine calls what listens on `host`, as it stands in a
 * URL: an address that means every address is none to call, and IPv6 stands in brackets.
 */
export function ownHost(host: string): string {
  const own = ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host;
  return own.includes(":") ? `[${own}]` : own;
}
