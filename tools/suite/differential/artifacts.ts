/** Random rows, keys and answers, from a universe so small that they often meet. */
import { ARTIFACT_FORMATS, buildObjectKey } from "../../../src/storage/rules/object-key.ts";
import { textOf, type JsonObject } from "../json.ts";
import type { ScriptedCall } from "../ports.ts";
import type { Random } from "./random.ts";

export const BUCKET = "artifacts-example";
export const OWN = id("a1");
export const OTHER = id("b1");
export const USER = id("a2");

const STATES = ["available", "pending", "missing", "quarantined", "expired", "purged"] as const;
const KINDS = ["request_body", "request_body", "response_body", "export"] as const;
const FOREIGN_KEYS = [
  "backup/notes.txt",
  "v1/t",
  "v1/t/x/d/y/a/1/export.zip",
  "\u00e9.txt",
  "\u{10437}",
  "\uff5e",
] as const;

/** A synthetic id by its last two digits. */
export function id(last: string): string {
  return `00000000-0000-4000-8000-0000000000${last}`;
}

/** One of as many ids as are wanted. */
export function manyId(group: number, number: number): string {
  return `00000000-0000-4000-8000-${group.toString(16)}${number.toString(16).padStart(11, "0")}`;
}

export function deliveryId(random: Random): string {
  return id(`d${random.integer(0, 4)}`);
}

/** A key of the grammar, seldom one that only looks like it. */
export function objectKey(random: Random, parts: JsonObject): string {
  const kind = KINDS.find((one) => one === parts["kind"]) ?? "export";
  const key = buildObjectKey({
    tenant_id: random.mostly(textOf(parts["tenant_id"]), OTHER),
    delivery_id: textOf(parts["delivery_id"]),
    attempt: random.mostly(Number(parts["attempt"]), 2, 999, 1000),
    kind,
  });
  return random.once(12) ? corruptKey(random, key) : key;
}

export function corruptKey(random: Random, key: string): string {
  const at = random.integer(0, key.length);
  const piece = random.pick([
    "/",
    ".",
    "..",
    "//",
    "A",
    "0",
    " ",
    "%",
    "\u00e9",
    "\n",
    "\\",
    "a".repeat(900),
  ]);
  // Cutting may halve a surrogate pair, which strict JSON cannot carry.
  return `${key.slice(0, at)}${piece}${key.slice(at + random.integer(0, 2))}`.toWellFormed();
}

export function foreignKey(random: Random): string {
  return random.once(2) ? random.unicode() : random.pick(FOREIGN_KEYS);
}

/** Attempts that are alike, and that text and number order differently. */
function attemptNumber(random: Random): number {
  return random.pick([1, 1, 2, 3, 9, 10, 11, 20, 99, 100, 101, 998, 999]);
}

/** As {@link attemptNumber}, seldom the first that there is no key for. */
export function anyAttempt(random: Random): number {
  return random.once(60) ? 1000 : attemptNumber(random);
}

/** A row of any state; its key and identity are mostly what they should be. */
export function row(random: Random, fixed: JsonObject = {}): JsonObject {
  const kind = random.pick(KINDS);
  const parts: JsonObject = {
    id: id(`c${random.integer(0, 6)}`),
    tenant_id: random.mostly(OWN, OTHER),
    delivery_id: deliveryId(random),
    attempt: attemptNumber(random),
    kind,
    ...fixed,
  };
  const key = objectKey(random, parts)
    .replaceAll(/[^!-~]/g, "-")
    .slice(0, 1024);
  return {
    ...parts,
    bucket: BUCKET,
    key,
    ...identity(random),
    content_type: random.mostly(ARTIFACT_FORMATS[kind].contentType, "text/plain"),
    state: random.pick(STATES),
    state_since: random.past(),
    available_at: random.nullable(() => random.instant()),
    deadline: random.nullable(() => random.instant()),
    hold: random.once(5),
    revision: revisionNumber(random),
    ...fixed,
  };
}

export function revisionNumber(random: Random): number {
  return random.once(6)
    ? random.pick([2_147_483_647, 2_147_483_648, Number.MAX_SAFE_INTEGER])
    : random.integer(1, 9);
}

function identity(random: Random): JsonObject {
  const usual = { version_id: "v-1", size: 10, etag: "etag-1", sha256: "a".repeat(64) };
  if (!random.once(6)) return usual;
  return {
    version_id: random.pick(["v-1", "v-2"]),
    // The last differs from the first only above 32 bits.
    size: random.pick([10, 11, 4_294_967_306]),
    etag: random.pick(["etag-1", "etag-2"]),
    sha256: random.pick(["a".repeat(64), "b".repeat(64)]),
  };
}

/** An object as a listing shows it. */
export function listed(random: Random, key: string): JsonObject {
  const { size = 0, etag = "" } = identity(random);
  return { key, size, etag, last_modified: random.past() };
}

/** What a head answers; `unavailable` only where the family ever gets that. */
export function headAnswer(random: Random, canFail: boolean): ScriptedCall {
  const result: JsonObject = random.once(7)
    ? { found: false }
    : canFail && random.once(8)
      ? { error: "unavailable" }
      : {
          found: true,
          ...identity(random),
          ...(random.once(20) ? { size: 4_294_967_306 } : {}),
          ...(random.once(15) ? { version_id: null } : {}),
          ...(random.once(15) ? { sha256: null } : {}),
          content_type: random.mostly("application/json", "text/plain", "application/zip"),
          last_modified: random.instant(),
        };
  return { service: "storage", method: "head", result };
}

export function authorizeAnswer(random: Random, objectId: string, delivery: string): ScriptedCall {
  const object = row(random, {
    id: random.mostly(objectId, id("c6")),
    delivery_id: random.mostly(delivery, id("d4")),
    state: random.mostly("available", "missing", "expired", "pending"),
  });
  const tenant = random.mostly(OWN, OTHER);
  const result: JsonObject = random.once(10)
    ? { found: false }
    : { found: true, object, delivery: { id: random.mostly(delivery, id("d4")), tenant_id: tenant } };
  return { service: "database", method: "authorize", result };
}

export function caller(random: Random): JsonObject {
  return {
    session_type: random.mostly("user", "service", "system"),
    user_id: USER,
    tenant_id: random.mostly<string | null>(OWN, null, OTHER),
    permissions: random.mostly(
      ["settings:read"],
      [],
      ["settings:write"],
      ["settings:write", "settings:read"],
    ),
  };
}

/** Now, or an instant near it. */
export function now(random: Random): string {
  return random.once(2) ? random.now : random.instant();
}
