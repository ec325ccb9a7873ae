/** Builds a key, or classifies keys for a tenant. */
import * as z from "zod";
import type { OperationResult } from "./mutations.ts";
import { buildObjectKey, keyParts, parseObjectKey, type KeyFault, type KeyParts } from "./object-key.ts";
import { text, uuid } from "./values.ts";

export const validateObjectKeyInput = z.discriminatedUnion("mode", [
  z.strictObject({ mode: z.literal("build"), ...keyParts.shape }),
  z.strictObject({
    mode: z.literal("parse"),
    tenant_id: uuid,
    /** Longer than any key may be, so that the answer is a code and not a refusal. */
    keys: z.array(text(0, 2048)).min(1).max(16),
  }),
]);
export type ValidateObjectKeyInput = z.infer<typeof validateObjectKeyInput>;

export type KeyVerdict = { code: "OK"; parts: KeyParts } | { code: KeyFault | "WRONG_OWNER"; parts: null };

export type ValidateObjectKeyOutput = { code: "OK"; key: string } | { results: KeyVerdict[] };

/** Builds one key, or judges each key against the tenant that asks. */
export function validateObjectKey(input: ValidateObjectKeyInput): OperationResult<ValidateObjectKeyOutput> {
  if (input.mode === "build") {
    const { mode: _, ...parts } = input;
    return { output: { code: "OK", key: buildObjectKey(parts) }, mutations: [] };
  }
  return { output: { results: input.keys.map((key) => judgeKey(key, input.tenant_id)) }, mutations: [] };
}

function judgeKey(key: string, tenantId: string): KeyVerdict {
  const parsed = parseObjectKey(key);
  if (parsed.code === "OK" && parsed.parts.tenant_id !== tenantId)
    return { code: "WRONG_OWNER", parts: null };
  return parsed;
}
