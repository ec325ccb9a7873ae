/** Lints an OpenAPI document, given by its path, with Spectral. Prints one line a fault; the status is 1 if there is one. */
import { readFileSync } from "node:fs";
import spectral from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";

const linter = new spectral.Spectral();
linter.setRuleset({
  extends: [[rulesets.oas, "recommended"]],
  // Whom to ask is the operator's to say: each runs Postern for their own callers.
  rules: { "info-contact": "off" },
});
const faults = await linter.run(JSON.parse(readFileSync(process.argv[2], "utf8")));
for (const { code, path, message } of faults) console.log(`${path.join(".")}: ${message} (${code})`);
process.exitCode = faults.length === 0 ? 0 : 1;
