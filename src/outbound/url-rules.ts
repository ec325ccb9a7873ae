/**
 * Which texts are URLs that a webhook may be sent to.
 *
 * A URL is judged twice: on the raw text, because parsers forgive spellings
 * that people and other parsers read differently (`https:\\a`, `https://0x7f.1`),
 * and on the parsed value (WHATWG URL), because that value is what is dialled.
 * Where a name leads is not decided here: see address-rules.ts and guard.ts.
 */
import { isIPv4 } from "node:net";
import { isSpecialUseName } from "./special-names.ts";

export type UrlRule =
  | "empty"
  | "too_long"
  | "not_https"
  | "control_character"
  | "white_space"
  | "backslash"
  | "userinfo"
  | "percent_in_authority"
  | "unparsable"
  | "ipv4_spelling"
  | "host_name"
  | "single_label"
  | "special_name"
  | "blocked_port";

export type UrlPolicy = {
  blockedPorts: ReadonlySet<number>;
  /** True when the operator opened private ranges: then such names are judged by their addresses alone. */
  privateTargetsAllowed: boolean;
};

/** A URL that passed every rule on its text. */
export type WebhookUrl = {
  /** The text as it was given, less its fragment. */
  href: string;
  /** `https://host` or `https://host:port`, the host without trailing dot. */
  origin: string;
  /** Lower-case name without trailing dot (IDN as `xn--`), or an IP literal without brackets. */
  host: string;
  port: number;
  /** Path and query as they go on the request line. */
  pathAndQuery: string;
  isIp: boolean;
};

export type UrlVerdict = { ok: true; url: WebhookUrl } | { ok: false; rule: UrlRule };

const MAX_URL_LENGTH = 2048;
const MAX_NAME_LENGTH = 253;
const SCHEME = "https://";
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const WHITE_SPACE = /\s/u;

/** Judges a URL by its text and its parse; looks nothing up. The text may be anything a caller sent. */
export function parseWebhookUrl(text: string, policy: UrlPolicy): UrlVerdict {
  const rawRule = judgeRawText(text);
  if (rawRule !== undefined) return { ok: false, rule: rawRule };

  const fragmentAt = text.indexOf("#");
  const href = fragmentAt === -1 ? text : text.slice(0, fragmentAt);
  const authority = authorityOf(href);
  const authorityRule = judgeRawAuthority(authority);
  if (authorityRule !== undefined) return { ok: false, rule: authorityRule };

  const parsed = URL.parse(href);
  if (parsed === null || parsed.protocol !== "https:") return { ok: false, rule: "unparsable" };

  const host = hostOf(parsed.hostname);
  const hostRule = judgeHost(host, authority, policy);
  if (hostRule !== undefined) return { ok: false, rule: hostRule };

  const port = parsed.port === "" ? 443 : Number(parsed.port);
  if (policy.blockedPorts.has(port)) return { ok: false, rule: "blocked_port" };

  const bracketed = host.kind === "ipv6" ? `[${host.name}]` : host.name;
  return {
    ok: true,
    url: {
      href,
      origin: port === 443 ? `${SCHEME}${bracketed}` : `${SCHEME}${bracketed}:${port}`,
      host: host.name,
      port,
      pathAndQuery: parsed.pathname + parsed.search,
      isIp: host.kind !== "name",
    },
  };
}

function judgeRawText(text: string): UrlRule | undefined {
  if (text === "") return "empty";
  if (text.length > MAX_URL_LENGTH) return "too_long";
  if (text.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return "not_https";
  // The parser strips tabs and newlines silently: a reader of the text would see another host.
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return "control_character";
    if (code === 0x5c) return "backslash";
  }
  if (WHITE_SPACE.test(text)) return "white_space";
  // A lone surrogate cannot be stored or sent as UTF-8.
  if (!text.isWellFormed()) return "control_character";
  return undefined;
}

function authorityOf(href: string): string {
  const rest = href.slice(SCHEME.length);
  const end = rest.search(/[/?]/);
  return end === -1 ? rest : rest.slice(0, end);
}

function judgeRawAuthority(authority: string): UrlRule | undefined {
  // The parser skips further slashes: in `https:///a.example` it would find a host where the text has none.
  if (authority === "") return "unparsable";
  if (authority.includes("@")) return "userinfo";
  if (authority.includes("%")) return "percent_in_authority";
  return undefined;
}

type Host = { kind: "name" | "ipv4" | "ipv6"; name: string };

function hostOf(hostname: string): Host {
  if (hostname.startsWith("[")) return { kind: "ipv6", name: hostname.slice(1, -1) };
  if (isIPv4(hostname)) return { kind: "ipv4", name: hostname };
  return { kind: "name", name: hostname.endsWith(".") ? hostname.slice(0, -1) : hostname };
}

function judgeHost(host: Host, authority: string, policy: UrlPolicy): UrlRule | undefined {
  if (host.kind === "ipv6") return undefined;
  if (host.kind === "ipv4") {
    // `0x7f.1`, `2130706433`, `127.1`, full-width digits: only the plain dotted quad is taken.
    const written = authority.replace(/:\d*$/, "");
    return written === host.name ? undefined : "ipv4_spelling";
  }
  if (host.name.length > MAX_NAME_LENGTH) return "host_name";
  const labels = host.name.split(".");
  if (!labels.every((label) => LABEL.test(label))) return "host_name";
  if (policy.privateTargetsAllowed) return undefined;
  if (isSpecialUseName(host.name)) return "special_name";
  return labels.length < 2 ? "single_label" : undefined;
}
