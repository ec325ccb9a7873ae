/** Writes the OpenAPI document to docs/openapi.json; with --check it fails when the file is not up to date. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeApi } from "../src/service/service.ts";

const file = join(import.meta.dirname, "..", "docs", "openapi.json");
const text = `${JSON.stringify(await describeApi(), null, 2)}\n`;

if (process.argv.includes("--check")) {
  const committed = await readFile(file, "utf8").catch(() => "");
  if (committed !== text) {
    console.error("docs/openapi.json is not what the routes say. Run: npm run openapi");
    process.exit(1);
  }
} else {
  await writeFile(file, text);
}
