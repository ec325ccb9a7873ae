import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  blockersOf,
  checkout,
  copySuite,
  edit,
  evidenceFile,
  readEvidence,
  run,
  seal,
  suiteFolder,
  suitePython,
} from "./support/suite-copy.ts";

/** A whole run takes half a minute; a machine under load takes many times as long. */
const LIMIT_MS = 1_200_000;

/** Asks production about one family, which is enough where the fault is the suite's. */
const ONE_FAMILY = ["--families", "derive_deadline"];

/** Validates a copy of the suite that must end BLOCKED, against production or another runner; gives its blockers. */
async function blockersOfRun(
  copy: string,
  runner = join(checkout, "tools", "suite", "runner.ts"),
  options: string[] = [],
): Promise<string[]> {
  const command = `"${process.execPath}" "${runner}"`;
  const args = [join(copy, "validate.py"), "--runner", command, ...options];
  const { status, output } = await run(suitePython(), args);
  assert.equal(status, 1, output);
  return blockersOf(copy);
}

describe("the storage-lifecycle suite", () => {
  it(
    "passes: 105 cases, 85 negative checks twice, equal digests, no difference on random inputs",
    { timeout: LIMIT_MS },
    async () => {
      const { status, output } = await run(process.execPath, ["tools/suite.ts"]);
      assert.equal(status, 0, output);
      const evidence = readEvidence(suiteFolder);
      assert.equal(evidence.state, "PASSED");
      assert.deepEqual(evidence.blockers, []);
      const { cases, casesPassed, negativeChecks, negativeChecksRejected, mutants, mutantsRejected } =
        evidence.counts;
      assert.deepEqual([cases, casesPassed, negativeChecks, negativeChecksRejected], [105, 105, 85, 85]);
      assert.equal(mutantsRejected, mutants);
      assert.equal(new Set(evidence.negativeMatrix.runs.map(({ sha256 }) => sha256)).size, 1);
      const { runner, families, cases: compared, identical, challenge } = evidence.production ?? {};
      assert.deepEqual([runner, families?.length, compared, identical], ["typescript", 10, 105, true]);
      assert.equal(challenge, 1000);
    },
  );
});

describe("a storage-lifecycle suite or runner that is wrong ends BLOCKED and names the cause:", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "postern-suite-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("one byte of an expectation, unsealed", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "byte");
    edit(copy, "suite.json", (text) => text.replace('"remaining_ms": 1,', '"remaining_ms": 2,'));
    const args = ["tools/suite.ts", "--suite", copy, "--differential", "0"];
    const { status, output } = await run(process.execPath, args);
    assert.equal(status, 1, output);
    const blockers = blockersOf(copy);
    assert.ok(blockers.some((one) => one.startsWith("L-2 suite.json: has SHA-256")));
    assert.ok(blockers.some((one) => one.startsWith("C-5 SL-023 /expected/output/remaining_ms")));
  });

  it("two ids of the manifest swapped and sealed anew", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "ids");
    edit(copy, "manifest.json", (text) =>
      text.replace('"SL-011"', '"SL-0XX"').replace('"SL-012"', '"SL-011"').replace('"SL-0XX"', '"SL-012"'),
    );
    await seal(copy, ["manifest.json"]);
    const blockers = await blockersOfRun(copy, undefined, ONE_FAMILY);
    assert.ok(
      blockers.includes('M-2 /orderedCaseIds/10: is "SL-012", must be "SL-011"'),
      blockers.join("\n"),
    );
  });

  it("a rule of the reference changed and sealed anew", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "rule");
    edit(copy, "reference/evaluate_expiry.py", (text) => text.replace("left <= 0", "left < 0"));
    await seal(copy, ["reference/evaluate_expiry.py"]);
    const blockers = await blockersOfRun(copy, undefined, ONE_FAMILY);
    assert.ok(blockers.some((one) => one.startsWith("C-5 SL-024 /expected/output/code")));
  });

  it("a sealed change of which the runner does not know", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "pin");
    edit(copy, "README.md", (text) => `${text}\nOne more line.\n`);
    await seal(copy, ["README.md"]);
    const blockers = await blockersOfRun(copy, undefined, ONE_FAMILY);
    assert.ok(
      blockers.some((one) => one.startsWith("PRODUCTION_SUITE_ROOT the runner was made for another suite")),
      blockers.join("\n"),
    );
  });

  it(
    "production that knows the answers of eight cases, and nothing else",
    { timeout: LIMIT_MS },
    async () => {
      const tools = copyOfProduction(folder);
      edit(tools, "src/storage/rules/evaluate-expiry.ts", (text) =>
        text.replace("export function evaluateExpiry(", `${EIGHT_ANSWERS}\nfunction evaluate(`),
      );
      const runner = join(tools, "tools", "suite", "runner.ts");
      const blockers = await blockersOfRun(copySuite(folder, "eight"), runner, [
        "--families",
        "evaluate_expiry",
      ]);
      assert.ok(
        blockers.some((one) => /^PRODUCTION_CHALLENGE [0-9]+ of 1000 new inputs/.test(one)),
        blockers.join("\n"),
      );
    },
  );

  it("random inputs on which the two implementations differ", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "differential");
    const file = "production-result.json";
    cpSync(join(suiteFolder, file), join(copy, file));
    edit(copy, file, (text) => text.replace('"differences": 0', '"differences": 1'));
    // One family is asked: the result speaks of all.
    const options = ["--with-result", ...ONE_FAMILY];
    const blockers = await blockersOfRun(copy, undefined, options);
    assert.ok(blockers.includes("PRODUCTION_DIFFERENTIAL 1 families differ on random inputs"));
  });

  it("digests that were copied, by a runner that runs nothing", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "copied");
    const runner = join(folder, "copied.mjs");
    // The evidence of the run above has every digest that the cases ask for.
    const evidence = join(folder, "old.json");
    cpSync(evidenceFile(suiteFolder), evidence);
    writeFileSync(runner, COPYING_RUNNER.replaceAll("EVIDENCE", evidence));
    const families = ["--families", "derive_deadline,evaluate_expiry,validate_delivery"];
    const blockers = await blockersOfRun(copy, runner, families);
    assert.ok(
      blockers.some((one) => one.startsWith("PRODUCTION_CHALLENGE")),
      blockers.join("\n"),
    );
    assert.equal(
      blockers.some((one) => one.startsWith("PRODUCTION_DIFFERS")),
      false,
      blockers.join("\n"),
    );
  });

  it("a production-result.json that was copied, and no runner", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "result");
    cpSync(join(suiteFolder, "production-result.json"), join(copy, "production-result.json"));
    const { status, output } = await run(suitePython(), [join(copy, "validate.py"), "--with-result"]);
    assert.equal(status, 1, output);
    assert.match(blockersOf(copy).join("\n"), /^PRODUCTION_ABSENT no runner was asked/m);
  });

  it("no Python at all", async () => {
    const copy = copySuite(folder, "python");
    const args = ["tools/suite.ts", "--suite", copy];
    const { status } = await run(process.execPath, args, { PATH: folder });
    assert.equal(status, 3);
    const { state, blockers } = readEvidence(copy);
    assert.equal(state, "BLOCKED");
    assert.match(blockers[0]?.detail ?? "", /install Python 3\.9 or newer/);
  });

  it("a Python without the packages", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "packages");
    // Without `site` no installed package can be seen.
    const { status, output } = await run("python3", ["-S", join(copy, "validate.py")]);
    assert.equal(status, 3, output);
    const { state, blockers } = readEvidence(copy);
    assert.equal(state, "BLOCKED");
    assert.deepEqual(
      blockers.map(({ code }) => code),
      ["DEPENDENCY_MISSING", "DEPENDENCY_MISSING"],
    );
    assert.match(blockers[0]?.detail ?? "", /pip install "jsonschema>=4\.18\.0" referencing/);
  });
});

/** Production and its runner, to be changed. */
function copyOfProduction(folder: string): string {
  const copy = join(folder, "production");
  mkdirSync(copy);
  for (const name of ["src/storage/rules", "tools/suite", "tools/suite.ts", "package.json"]) {
    cpSync(join(checkout, name), join(copy, name), { recursive: true });
  }
  for (const name of ["node_modules", ".venv"]) symlinkSync(join(checkout, name), join(copy, name));
  return copy;
}

/** Right for SL-023 to SL-030, by what tells them apart; wrong for everything else. */
const EIGHT_ANSWERS = `
export function evaluateExpiry(input: EvaluateExpiryInput): ReturnType<typeof evaluate> {
  const result = evaluate(input);
  const year = input.now.slice(0, 4);
  return year === "2026" ? result : { ...result, output: { ...result.output, code: "INERT" } };
}
`;

/** Answers the cases from an old evidence, and everything else with the answer of the first. */
const COPYING_RUNNER = `
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const evidence = JSON.parse(readFileSync("EVIDENCE", "utf8"));
const suite = JSON.parse(readFileSync("${join(suiteFolder, "suite.json")}", "utf8"));
const produced = new Map(evidence.cases.map((one) => [one.id, one.producedSha256]));
const key = (input, calls) =>
  createHash("sha256").update(JSON.stringify([input, calls.map(({ result }) => result)])).digest("hex");
const known = new Map(suite.cases.map((one) => [key(one.input, one.calls), produced.get(one.id)]));
const families = [...new Set(suite.cases.map((one) => one.family))];
console.log(JSON.stringify({ runner: "copied", suiteRoot: evidence.suiteRoot, families }));
for await (const line of createInterface({ input: process.stdin })) {
  const { input, calls } = JSON.parse(line);
  console.log(known.get(key(input, calls)) ?? "invalid");
}
`;
