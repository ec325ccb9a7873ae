/** JSON values, and the three ways the suite looks at them: as a value, as bytes, as a layout. */
import { createHash } from "node:crypto";

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

/** Whether a value is an object with members; lists and null are not. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as canonical text (RFC 8785), for comparing and for digests. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  // The default order of sort is that of UTF-16 code units, as RFC 8785 wants.
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`);
  return `{${members.join(",")}}`;
}

/** A member that should be text, as text whatever it is. */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** SHA-256 of the canonical bytes, in lower-case hex. */
export function digest(value: Json): string {
  return sha256(canonical(value));
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The one layout of a JSON file: 2 spaces, everything beyond ASCII escaped. */
export function layout(value: Json): string {
  const text = JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${text}\n`;
}
