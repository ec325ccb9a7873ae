/**
 * Production as a process that the suite's validator asks: a question a line, an answer a line.
 *
 * The validator asks the cases and, among them, inputs that are new in every run, so
 * that nothing but running production can answer.
 */
import { createInterface } from "node:readline";
import * as z from "zod";
import { FAMILIES, familyName } from "./families.ts";
import { produce } from "./judge.ts";
import { digest, type Json, type JsonObject } from "./json.ts";
import { RUNNER } from "./production-result.ts";
import { parseStrictText } from "./strict-json.ts";
import { SUITE_ROOT } from "./suite-root.ts";

const json = z.custom<Json>((value) => value !== undefined);
const question = z.strictObject({
  question: z.int(),
  family: familyName,
  input: json,
  calls: z.array(z.strictObject({ service: z.string(), method: z.string(), result: json })),
});

async function answer(line: string): Promise<string> {
  const { family, input, calls } = question.parse(parseStrictText(line));
  if (!FAMILIES[family].admits(input)) return "invalid";
  const { calls: asked, result } = await produce(family, input, calls);
  if (result === null) return "fault";
  const made = asked.map(({ service, method, args }): JsonObject => ({ service, method, args }));
  return digest({ calls: made, ...result });
}

console.log(JSON.stringify({ runner: RUNNER, suiteRoot: SUITE_ROOT, families: familyName.options }));
for await (const line of createInterface({ input: process.stdin })) console.log(await answer(line));
