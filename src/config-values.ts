/** How the texts of settings are read that are more than a number or a list. */
import * as z from "zod";
import { databaseUrlFault } from "./database/hosts/host-list.ts";
import { parseIntakeUrl, type IntakePlace } from "./intake/intake-url.ts";
import { parseShardList, type Shard } from "./shards/shard-list.ts";
import { parseDurationMs } from "./shared/duration.ts";
import { headerTokenFault } from "./shared/header-token.ts";
import { parseTenantId, type TenantId } from "./shared/id.ts";
import { ownHost } from "./shared/own-host.ts";
import { withoutSlash } from "./shared/without-slash.ts";
import {
  isSecureOrLoopback,
  parseObjectStoreUrl,
  type ObjectStore,
} from "./storage/bytes/object-store-url.ts";

const MAX_DURATION_MS = 365 * 86_400_000;
export const KEY_HELP = "Make one with: openssl rand -base64 32";

export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be one of ${words.join(", ")}` });
}

export const cidr = z.union([z.cidrv4(), z.cidrv6()], {
  error: "must be ranges such as 10.0.0.0/8 or fd00::/8; a single address is 10.0.0.1/32 or fd00::1/128",
});

// As in a content security policy; a wildcard stands for subdomains alone.
export const frameAncestor = z
  .string()
  .regex(
    /^https?:\/\/(?:\*\.)?(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::[0-9]{1,5})?$/,
    "must be origins such as https://app.example.com or https://*.example.com",
  );

export const basePath = z
  .string()
  .regex(/^(?:\/[A-Za-z0-9._~-]+)*\/?$/, "must be empty or a path such as /postern")
  .transform(withoutSlash);

// In a URL more than this is part of something, or stands for something else.
const NAME = /^[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)*\.?$/u;

// Links, and this machine's own calls, have it in a URL, and no URL can have a zone.
export const listenHost = z
  .string()
  .refine(
    (host) =>
      (z.ipv6().safeParse(host).success || NAME.test(host)) && URL.canParse(`http://${ownHost(host)}`),
    "must be an address or a name, without brackets, port, path, or a zone as in fe80::1%eth0; :: is every address",
  );

// An address, since a name would need a name server to be found.
const ADDRESS_AND_PORT = /^(?:([0-9.]+)|\[([0-9a-fA-F:.]+)\]):([0-9]{1,5})$/;

export const nameServer = z.string().refine((text) => {
  const [, four, six, port] = ADDRESS_AND_PORT.exec(text) ?? [];
  const isAddress = z.ipv4().safeParse(four).success || z.ipv6().safeParse(six).success;
  return isAddress && Number(port) < 65_536;
}, "must be addresses with ports, such as 10.0.0.2:53 or [fd00::2]:53");

/** Checked here is what a list of hosts adds, and what `pg` would silently ignore: it refuses the rest. */
export const databaseUrl = z
  .string()
  .regex(/^postgres(?:ql)?:\/\//, "must begin with postgres:// or postgresql://")
  .superRefine(refuseBy(databaseUrlFault));

const PLAIN_URL = /^https?:\/\/[^/?#@]+(?:\/[A-Za-z0-9][A-Za-z0-9._~-]{0,63}){0,5}\/?$/;
const USER_IN_URL = /^[a-z]+:[/\\]*[^/\\?#]*@/i;

const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

export const publicUrl = httpUrl
  .refine(isSecureOrLoopback, "must begin with https:// unless it is this machine")
  .refine((url) => PLAIN_URL.test(url), "must have no query, user or unusual path")
  .transform(withoutSlash);

export const keySetUrl = httpUrl.refine(
  (url) => !USER_IN_URL.test(url),
  "must have no user or password: they would not be sent",
);

export const headerToken = z.string().superRefine(refuseBy(headerTokenFault));

function refuseBy(faultOf: (text: string) => string | null) {
  return (text: string, context: z.RefinementCtx): void => {
    const fault = faultOf(text);
    if (fault !== null) context.addIssue({ code: "custom", message: fault });
  };
}

export const durationMs = z.string().transform((text, context) => {
  const ms = parseDurationMs(text);
  if (ms !== null && ms <= MAX_DURATION_MS) return ms;
  context.addIssue({ code: "custom", message: "must be a duration such as 90s, 5m, 2h or 5d, 365d at most" });
  return z.NEVER;
});

export const encryptionKey = z.string().transform((text, context) => {
  const encoding = /^[0-9a-fA-F]{64}$/.test(text) ? "hex" : "base64";
  const key = Buffer.from(text, encoding);
  if (key.length === 32 && (encoding === "hex" || /^[A-Za-z0-9+/]{43}=?$/.test(text))) return key;
  const fault =
    text === ""
      ? "has an empty key beside a comma, as where a variable was not set"
      : "must be 32 bytes in base64 or hex";
  context.addIssue({ code: "custom", message: `${fault}. ${KEY_HELP}` });
  return z.NEVER;
});

export const operatorTenant = z.string().transform((text, context): TenantId => {
  const tenantId = parseTenantId(text);
  if (tenantId !== null) return tenantId;
  context.addIssue({ code: "custom", message: "must be 1 to 64 of A-Z, a-z, 0-9, _ and -" });
  return z.NEVER;
});

export const intakePlace = z.string().transform((text, context): IntakePlace => {
  const place = parseIntakeUrl(text);
  if (place !== null) return place;
  context.addIssue({
    code: "custom",
    message: "must be servers of one NATS cluster, such as nats://a:4222,b:4222,c:4222, or tls://…",
  });
  return z.NEVER;
});

export const shardList = z.string().transform((text, context): readonly Shard[] => {
  const parsed = parseShardList(text);
  if ("shards" in parsed) return parsed.shards;
  context.addIssue({ code: "custom", message: parsed.fault });
  return z.NEVER;
});

export const objectStore = z.string().transform((text, context): ObjectStore => {
  const parsed = parseObjectStoreUrl(text);
  if ("store" in parsed) return parsed.store;
  context.addIssue({ code: "custom", message: parsed.fault });
  return z.NEVER;
});
