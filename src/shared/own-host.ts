/**
 * The host part of a URL that reaches a server listening on `host` of this machine.
 * A wildcard address can't be dialled, so it becomes loopback. IPv6 is in brackets.
 */
export function ownHost(host: string): string {
  const own = ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host;
  return own.includes(":") ? `[${own}]` : own;
}
