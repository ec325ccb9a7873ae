/** Writes the OpenAPI document to docs/openapi.json and its types into the portal; with --check it fails when the document is not up to date. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateTypes, prepareApiTools } from "../test/support/api-tools.ts";
import { describeApi } from "../src/service/service.ts";

const typesFile = join(import.meta.dirname, "..", "portal", "src", "api", "schema.d.ts");
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
  await prepareApiTools(console.log);
  await writeFile(typesFile, await generateTypes());
}
