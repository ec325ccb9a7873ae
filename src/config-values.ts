/** How the texts of settings are read that are more than a number or a list. */
import { z } from "zod";
import { parseDurationMs } from "./shared/duration.ts";
import { parseTenantId, type TenantId } from "./shared/id.ts";
import { parseObjectStoreUrl, type ObjectStore } from "./storage/bytes/object-store-url.ts";

const MAX_DURATION_MS = 365 * 86_400_000;
export const KEY_HELP = "Make one with: openssl rand -base64 32";

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
  context.addIssue({ code: "custom", message: `must be 32 bytes in base64 or hex. ${KEY_HELP}` });
  return z.NEVER;
});

export const operatorTenant = z.string().transform((text, context): TenantId => {
  const tenantId = parseTenantId(text);
  if (tenantId !== null) return tenantId;
  context.addIssue({ code: "custom", message: "must be 1 to 64 of A-Z, a-z, 0-9, _ and -" });
  return z.NEVER;
});

export const objectStore = z.string().transform((text, context): ObjectStore => {
  const parsed = parseObjectStoreUrl(text);
  if ("store" in parsed) return parsed.store;
  context.addIssue({ code: "custom", message: parsed.fault });
  return z.NEVER;
});
