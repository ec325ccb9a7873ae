/**
 * Writes the OpenAPI document to docs/openapi.json and its types into the portal, and the schema of the intake's
 * messages; with --check it fails when a document is not up to date.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateTypes, prepareApiTools } from "../test/support/api-tools.ts";
import { messageSchema } from "../src/intake/message-schema.ts";
import { describeApi } from "../src/service/service.ts";

const typesFile = join(import.meta.dirname, "..", "portal", "src", "api", "schema.d.ts");
const docs = join(import.meta.dirname, "..", "docs");
const documents: [file: string, made: unknown][] = [
  ["openapi.json", await describeApi()],
  ["intake-message.schema.json", messageSchema()],
];
const isCheck = process.argv.includes("--check");

for (const [name, made] of documents) {
  const text = `${JSON.stringify(made, null, 2)}\n`;
  const file = join(docs, name);
  if (!isCheck) await writeFile(file, text);
  else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    console.error(`docs/${name} is not what the program says. Run: npm run openapi`);
    process.exitCode = 1;
  }
}
if (!isCheck) {
  await prepareApiTools(console.log);
  await writeFile(typesFile, await generateTypes());
}
