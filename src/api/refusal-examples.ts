/** What a caller gets who breaks one rule: the document's examples of refusals. */
import type * as z from "zod";
import type { Issue, RefusalCode } from "../shared/refusal.ts";
import { ANSWERS } from "./error-answers.ts";
import type { errorObject } from "./schemas.ts";

const ISSUES: Partial<Record<RefusalCode, Issue>> = {
  validation_failed: { path: ["evnets"], message: 'did you mean "events"?', code: "did_you_mean" },
  invalid_query: { path: ["limit"], message: "Too big: expected number to be <=100", code: "too_big" },
};

export function refusalExample(code: RefusalCode): z.infer<typeof errorObject> {
  const { error } = ANSWERS[code];
  const issue = ISSUES[code];
  return issue === undefined ? { error } : { error, issues: [issue] };
}
