/** The evidence of a run that could not begin: without Python, the validator cannot write its own. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digest, layout, type JsonObject } from "./json.ts";

export const EVIDENCE_FILE = "validation-result.json";

/** Removes an older evidence, so that a run that fails leaves none behind. */
export function discardEvidence(root: string): void {
  rmSync(join(root, EVIDENCE_FILE), { force: true });
}

/** Writes `BLOCKED` with one blocker, in the form of the suite's evidence schema. */
export function writeBlockedEvidence(root: string, code: string, detail: string): void {
  const dependencies = [
    { name: "python", minimumVersion: null },
    { name: "jsonschema", minimumVersion: "4.18.0" },
    { name: "referencing", minimumVersion: null },
  ].map(({ name, minimumVersion }): JsonObject => {
    return { name, required: true, minimumVersion, present: false, satisfied: false };
  });
  const body: JsonObject = {
    schemaVersion: "1",
    suite: "storage-lifecycle",
    state: "BLOCKED",
    suiteRoot: null,
    manifestSha256: null,
    dependencies,
    counts: {
      cases: 0,
      casesPassed: 0,
      negativeChecks: 0,
      negativeChecksRejected: 0,
      mutants: 0,
      mutantsRejected: 0,
    },
    cases: [],
    coverage: { rules: [], codes: [], transitions: [], events: [], boundaries: [] },
    negativeChecks: [],
    negativeMatrix: { runsRequired: 2, runs: [], identical: false },
    production: null,
    blockers: [{ code, detail }],
  };
  const environment = { python: null, jsonschema: null, referencing: null };
  const evidence: JsonObject = { ...body, bodySha256: digest(body), environment };
  const file = join(root, EVIDENCE_FILE);
  writeFileSync(`${file}.tmp`, layout(evidence));
  renameSync(`${file}.tmp`, file);
}
