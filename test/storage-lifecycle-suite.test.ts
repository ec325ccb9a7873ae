import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { z } from "zod";

const root = dirname(import.meta.dirname);
const suite = join(root, "suites", "storage-lifecycle");

const evidenceShape = z.object({
  state: z.string(),
  counts: z.record(z.string(), z.number()),
  cases: z.array(z.object({ id: z.string(), status: z.string() })),
  negativeMatrix: z.object({ identical: z.boolean(), runs: z.array(z.object({ sha256: z.string() })) }),
  production: z.object({ runner: z.string(), cases: z.number(), identical: z.boolean() }).nullable(),
  blockers: z.array(z.object({ code: z.string(), detail: z.string() })),
});

async function run(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ status: number | null; output: string }> {
  const child = spawn(command, args, { cwd: root, env });
  let output = "";
  child.stdout.on("data", (data) => (output += String(data)));
  child.stderr.on("data", (data) => (output += String(data)));
  await once(child, "close");
  return { status: child.exitCode, output };
}

function readEvidence(folder: string) {
  return evidenceShape.parse(JSON.parse(readFileSync(join(folder, "validation-result.json"), "utf8")));
}

/** Validates a copy of the suite that must end BLOCKED; gives its blockers. */
async function blockersOf(copy: string): Promise<string[]> {
  const args = ["tools/suite.ts", "--suite", copy, "--differential", "0"];
  const { status, output } = await run(process.execPath, args);
  assert.equal(status, 1, output);
  const evidence = readEvidence(copy);
  assert.equal(evidence.state, "BLOCKED");
  return evidence.blockers.map(({ code, detail }) => `${code} ${detail}`);
}

async function seal(copy: string): Promise<void> {
  const python = join(root, ".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const { status, output } = await run(python, [join(copy, "validate.py"), "--seal"]);
  assert.equal(status, 0, output);
}

describe("the storage-lifecycle suite", () => {
  it("passes: 105 cases, 85 negative checks twice, equal digests, no difference on random inputs", async () => {
    const { status, output } = await run(process.execPath, ["tools/suite.ts"]);
    assert.equal(status, 0, output);
    const evidence = readEvidence(suite);
    assert.equal(evidence.state, "PASSED");
    assert.deepEqual(evidence.blockers, []);
    const { cases, casesPassed, negativeChecks, negativeChecksRejected, mutants, mutantsRejected } =
      evidence.counts;
    assert.deepEqual([cases, casesPassed, negativeChecks, negativeChecksRejected], [105, 105, 85, 85]);
    assert.equal(mutantsRejected, mutants);
    assert.equal(new Set(evidence.negativeMatrix.runs.map(({ sha256 }) => sha256)).size, 1);
    assert.deepEqual(evidence.production, { runner: "typescript", cases: 105, identical: true });
    assert.match(output, /no difference/);
  });
});

describe("a sabotaged storage-lifecycle suite ends BLOCKED and names the cause:", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "postern-suite-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function sabotage(name: string, file: string, change: (text: string) => string): string {
    const copy = join(folder, name);
    cpSync(suite, copy, { recursive: true });
    const path = join(copy, file);
    const text = readFileSync(path, "utf8");
    const changed = change(text);
    assert.notEqual(changed, text);
    writeFileSync(path, changed);
    return copy;
  }

  it("one byte of an expectation, unsealed", async () => {
    const copy = sabotage("byte", "suite.json", (text) =>
      text.replace('"remaining_ms": 1,', '"remaining_ms": 2,'),
    );
    const blockers = await blockersOf(copy);
    assert.ok(blockers.some((one) => one.startsWith("L-2 suite.json: has SHA-256")));
    assert.ok(blockers.some((one) => one.startsWith("C-5 SL-023 /expected/output/remaining_ms")));
  });

  it("two ids of the manifest swapped and sealed anew", async () => {
    const copy = sabotage("ids", "manifest.json", (text) =>
      text.replace('"SL-011"', '"SL-0XX"').replace('"SL-012"', '"SL-011"').replace('"SL-0XX"', '"SL-012"'),
    );
    await seal(copy);
    const blockers = await blockersOf(copy);
    assert.ok(
      blockers.includes('M-2 /orderedCaseIds/10: is "SL-012", must be "SL-011"'),
      blockers.join("\n"),
    );
  });

  it("a rule of the reference changed and sealed anew", async () => {
    const copy = sabotage("rule", "reference/evaluate_expiry.py", (text) =>
      text.replace("left <= 0", "left < 0"),
    );
    await seal(copy);
    const blockers = await blockersOf(copy);
    assert.ok(blockers.some((one) => one.startsWith("C-5 SL-024 /expected/output/code")));
    assert.ok(
      blockers.some((one) => one.startsWith("PRODUCTION_SUITE_ROOT the runner was made for another suite")),
    );
  });

  it("no Python at all", async () => {
    const copy = join(folder, "python");
    cpSync(suite, copy, { recursive: true });
    const args = ["tools/suite.ts", "--suite", copy];
    const { status } = await run(process.execPath, args, { PATH: folder });
    assert.equal(status, 3);
    const { state, blockers } = readEvidence(copy);
    assert.equal(state, "BLOCKED");
    assert.match(blockers[0]?.detail ?? "", /install Python 3\.9 or newer/);
  });

  it("a Python without the packages", async () => {
    const copy = join(folder, "packages");
    cpSync(suite, copy, { recursive: true });
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
