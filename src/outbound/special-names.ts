/**
 * Names that never belong to a public receiver.
 *
 * From IANA's Special-Use Domain Names registry (RFC 6761 and those after it),
 * the reverse zones, and the names that private networks commonly use
 * (RFC 6762 appendix G, ICANN's `internal`). `example.com`, `example.net` and
 * `example.org` are in the registry too but resolve publicly: they stay ordinary.
 */
const SPECIAL_SUFFIXES: readonly string[] = [
  "localhost",
  "local",
  "internal",
  "home.arpa",
  "onion",
  "test",
  "invalid",
  "example",
  "alt",
  "lan",
  "home",
  "corp",
  "intranet",
  "private",
  "localdomain",
  "in-addr.arpa",
  "ip6.arpa",
];

/** Whether a host name is, or lies under, a special-use name. Any case; one trailing dot is ignored. */
export function isSpecialUseName(name: string): boolean {
  const lower = name.toLowerCase();
  const bare = lower.endsWith(".") ? lower.slice(0, -1) : lower;
  return SPECIAL_SUFFIXES.some((suffix) => bare === suffix || bare.endsWith(`.${suffix}`));
}
