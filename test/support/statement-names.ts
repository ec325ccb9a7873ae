/** The statements with a name, which a session plans once and keeps, as the sources have them. */
import assert from "node:assert/strict";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The folders whose stores run all the time. Statements without a name are planned anew each time. */
const FOLDERS = ["database", "queue", "worker", "events", "deliveries", "endpoints"];
const STORES = join(import.meta.dirname, "..", "..", "src", `{${FOLDERS.join(",")}}`, "**", "*-store.ts");

const COUNTED = "test/log-reads.test.ts counts the rows that it reads";
/** Why a statement has no case; one whose name is made of parts has `*` in place of the first that is not fixed. */
const NOT_PLANNED: Record<string, string> = {
  "claim-keys": "reads no table, and adds rows",
  beat: "it reads no row: what it would change is WHERE false",
  "read-deliveries": COUNTED,
  "read-delivery-heads": COUNTED,
  "find-bodies": COUNTED,
  "find-text": COUNTED,
  "find-delivery": COUNTED,
  "find-endpoint-of": COUNTED,
  "list-event-slice": COUNTED,
  "find-event": COUNTED,
  "find-attempts": COUNTED,
  "list-delivery-ids-*": COUNTED,
  "search-*": COUNTED,
};

/** The names that are neither among those that `ran` nor have a reason, and the reasons that none needs. */
export async function uncovered(
  ran: ReadonlySet<string>,
): Promise<{ without: string[]; needless: string[] }> {
  const named = await namesInStores();
  assert.ok(named.length > 30, `${named.length} names`);
  const hasRun = (name: string) => [...ran].some((one) => one === name || isFormOf(one, name));
  return {
    without: named.filter((name) => !hasRun(name) && !Object.hasOwn(NOT_PLANNED, name)),
    needless: Object.keys(NOT_PLANNED).filter((name) => !named.includes(name) || hasRun(name)),
  };
}

async function namesInStores(): Promise<string[]> {
  const names: string[] = [];
  for await (const file of glob(STORES)) {
    const text = await readFile(file, "utf8");
    for (const [, fixed, start] of text.matchAll(/\bname: (?:"([^"]+)"|`([^`$]*)\$)/g))
      names.push(fixed ?? `${start}*`);
  }
  return names;
}

function isFormOf(name: string, pattern: string): boolean {
  return pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1));
}
