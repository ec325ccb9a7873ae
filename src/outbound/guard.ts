/**
 * The guard against requests to places that are not public (SSRF).
 *
 * Cast: the URL rules (text and parse), the resolver (names to addresses), the
 * address rules, and the dialler in connect.ts, which asks `pin` again and
 * connects to nothing but the addresses it returns. It is right because no name
 * is handed to anyone below it: what was judged is what is dialled, so a name
 * that leads elsewhere a moment later changes nothing.
 *
 * One address that is not public refuses the whole name: a name with a public
 * and a private address is an attack or a mistake, and never a receiver.
 */
import { judgeAddress, type AddressPolicy, type AddressRule } from "./address-rules.ts";
import { makeResolver, type Lookup, type NameResolver, type ResolverLimits } from "./resolver.ts";
import { parseWebhookUrl, type UrlRule, type UrlVerdict } from "./url-rules.ts";

export type UnsafeRule = UrlRule | AddressRule;

export type Target = { host: string; isIp: boolean };

export type Pin =
  /** At least one, all judged. */
  | { kind: "pinned"; addresses: readonly string[] }
  | { kind: "unsafe"; rule: AddressRule }
  | { kind: "unresolved"; code: string };

export type Guard = {
  /** Judges the text of a URL; looks nothing up. Remembers what it accepted. */
  parse(text: string): UrlVerdict;
  /** For create and update: a name that does not resolve (yet) is safe. */
  checkUrl(text: string): Promise<"safe" | { unsafe: UnsafeRule }>;
  /** The addresses that may be dialled now. */
  pin(target: Target): Promise<Pin>;
  /** The same at once, when no look-up is needed for it. */
  pinCached(target: Target): Pin | undefined;
  close(): void;
};

export type GuardOptions = {
  addressPolicy: AddressPolicy;
  /** True when `OUTBOUND_ALLOWED_CIDRS` is set. */
  privateTargetsAllowed: boolean;
  blockedPorts: ReadonlySet<number>;
  /** Name servers as `ip:port`; absent or empty: the system's. */
  dnsServers?: readonly string[];
  /** Read only when private targets are allowed; default /etc/hosts. */
  hostsFile?: string;
  resolverLimits?: Partial<ResolverLimits>;
};

const MAX_REMEMBERED_URLS = 10_000;
// RFC 6761 section 6.3.
const LOOPBACK = ["127.0.0.1", "::1"];

/** Throws an Error when a name server's address cannot be parsed. */
export function makeGuard(options: GuardOptions): Guard {
  const { addressPolicy } = options;
  const resolver = makeGuardResolver(options);
  const verdicts = new Map<string, UrlVerdict>();
  // A verdict is a function of the answer and of rules that never change, so it lives as long as the answer.
  const pins = new WeakMap<Lookup, Pin>();
  /** The same of a host that is an address, as long as its URL is remembered. */
  const literalPins = new WeakMap<Target, Pin>();

  function parse(text: string): UrlVerdict {
    const known = verdicts.get(text);
    if (known !== undefined) return known;
    const verdict = parseWebhookUrl(text, options);
    // Refused texts are not kept: they may be as long as a caller likes.
    if (!verdict.ok) return verdict;
    if (verdicts.size >= MAX_REMEMBERED_URLS) verdicts.clear();
    verdicts.set(text, verdict);
    return verdict;
  }

  function judgeLookup(lookup: Lookup): Pin {
    const known = pins.get(lookup);
    if (known !== undefined) return known;
    const pin: Pin =
      lookup.kind === "found"
        ? judgeAll(lookup.addresses, addressPolicy)
        : { kind: "unresolved", code: lookup.code };
    pins.set(lookup, pin);
    return pin;
  }

  function judgeLiteral(target: Target): Pin {
    const pin = literalPins.get(target) ?? judgeAll([target.host], addressPolicy);
    literalPins.set(target, pin);
    return pin;
  }

  function pinCached(target: Target): Pin | undefined {
    if (target.isIp) return judgeLiteral(target);
    const lookup = resolver.peek(target.host);
    return lookup === undefined ? undefined : judgeLookup(lookup);
  }

  async function pin(target: Target): Promise<Pin> {
    return pinCached(target) ?? judgeLookup(await resolver.resolve(target.host));
  }

  return {
    parse,
    pin,
    pinCached,
    async checkUrl(text) {
      const verdict = parse(text);
      if (!verdict.ok) return { unsafe: verdict.rule };
      const pinned = await pin(verdict.url);
      return pinned.kind === "unsafe" ? { unsafe: pinned.rule } : "safe";
    },
    close: () => resolver.close(),
  };
}

function judgeAll(addresses: readonly string[], policy: AddressPolicy): Pin {
  for (const address of addresses) {
    const verdict = judgeAddress(address, policy);
    if (!verdict.ok) return { kind: "unsafe", rule: verdict.rule };
  }
  return { kind: "pinned", addresses };
}

function makeGuardResolver(options: GuardOptions): NameResolver {
  const common = {
    ...(options.dnsServers === undefined ? {} : { servers: options.dnsServers }),
    ...(options.resolverLimits === undefined ? {} : { limits: options.resolverLimits }),
  };
  if (!options.privateTargetsAllowed) return makeResolver(common);
  // An operator who opens 127.0.0.0/8 alone means `localhost` too: leave out the loopback that stayed closed.
  const open = LOOPBACK.filter((address) => judgeAddress(address, options.addressPolicy).ok);
  return makeResolver({
    ...common,
    fixedNames: new Map([["localhost", open.length > 0 ? open : LOOPBACK]]),
    hostsFile: options.hostsFile ?? "/etc/hosts",
  });
}
