/** Issues for the log. The author of a message chooses its names, but must not choose a line's length. Pure. */
import type { Issue } from "../shared/refusal.ts";

const MOST_ISSUES = 10;
const MOST_PARTS = 20;
const LONGEST_PART = 100;
const LONGEST_MESSAGE = 300;

export function toldIssues(issues: readonly Issue[] = []): Issue[] {
  return issues.slice(0, MOST_ISSUES).map(({ path, message, code }) => ({
    path: path
      .slice(0, MOST_PARTS)
      .map((part) => (typeof part === "string" ? cut(part, LONGEST_PART) : part)),
    message: cut(message, LONGEST_MESSAGE),
    code,
  }));
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
