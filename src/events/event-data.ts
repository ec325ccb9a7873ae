/**
 * What event data may hold. JSON texts can say more than every receiver and
 * database can read back; what would be altered on the way is refused.
 */
import { brokenNumberRule } from "../shared/exact-numbers.ts";

export const MAX_DATA_DEPTH = 64;

export type DataRule =
  | "nul_character"
  | "lone_surrogate"
  | "number_out_of_range"
  | "number_too_long"
  | "too_deep";

/** The first rule that a parsed JSON value breaks, or null. Numbers may be their texts, as `parseWithDigits` has them. */
export function brokenDataRule(value: unknown, depth = 0): DataRule | null {
  if (typeof value === "string") return brokenTextRule(value);
  if (typeof value === "number") return Number.isFinite(value) ? null : "number_out_of_range";
  if (typeof value !== "object" || value === null) return null;
  if (JSON.isRawJSON(value)) return brokenNumberRule(value);
  if (depth === MAX_DATA_DEPTH) return "too_deep";
  for (const [key, member] of Object.entries(value)) {
    const rule = brokenTextRule(key) ?? brokenDataRule(member, depth + 1);
    if (rule !== null) return rule;
  }
  return null;
}

/** The rule for one text: PostgreSQL stores no NUL, and a lone surrogate is no UTF-8. */
export function brokenTextRule(text: string): DataRule | null {
  if (text.includes("\u0000")) return "nul_character";
  return text.isWellFormed() ? null : "lone_surrogate";
}
