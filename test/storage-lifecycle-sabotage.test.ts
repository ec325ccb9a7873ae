/**
 * Each sabotage of the storage-lifecycle suite, sealed anew as its author would,
 * must end BLOCKED for the reason that belongs to it.
 */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { SAMPLES } from "./support/sensitive-samples.ts";
import {
  blockersOf,
  copySuite,
  edit,
  evidenceFile,
  run,
  seal,
  suiteFolder,
  suitePython,
} from "./support/suite-copy.ts";

/** A validation ends in seconds; a machine under load takes many times as long. */
const LIMIT_MS = 480_000;
const members = z.record(z.string(), z.unknown());
type Members = z.infer<typeof members>;
const suiteShape = z.looseObject({ cases: z.array(members) });
const matrixShape = z.looseObject({
  checks: z.array(z.looseObject({ id: z.string(), mutants: z.array(members) })),
});

function inSuite(change: (find: (id: string) => Members) => void): (text: string) => string {
  return (text) => {
    const suite = suiteShape.parse(JSON.parse(text));
    change((id) => {
      const found = suite.cases.find((one) => one["id"] === id);
      assert.ok(found);
      return found;
    });
    return JSON.stringify(suite);
  };
}

function withTitle(id: string, title: string): (text: string) => string {
  return inSuite((find) => {
    find(id)["title"] = title;
  });
}

function inCase(id: string, from: string, to: string): (text: string) => string {
  return inSuite((find) => {
    const one = find(id);
    const changed = JSON.stringify(one).replaceAll(from, to);
    assert.notEqual(changed, JSON.stringify(one));
    Object.assign(one, members.parse(JSON.parse(changed)));
  });
}

function swapped(member: string, left: string, right: string): (text: string) => string {
  return inSuite((find) => {
    const [first, second] = [find(left), find(right)];
    [first[member], second[member]] = [second[member], first[member]];
  });
}

function inMatrix(change: (id: string, mutants: Members[]) => Members[]): (text: string) => string {
  return (text) => {
    const matrix = matrixShape.parse(JSON.parse(text));
    for (const check of matrix.checks) check.mutants = change(check.id, check.mutants);
    return JSON.stringify(matrix);
  };
}

function code(from: string, to: string): (text: string) => string {
  return (text) => text.replace(from, to);
}

const sample = (form: string): string => (SAMPLES[form] ?? []).join("");
const TOKEN = sample("a GitHub token");
const EMAIL = sample("an e-mail address");
const CARD = sample("a card number");

/** Each form that the scanner knows, alone in a line of a file that is no case. */
const IN_FILES = Object.keys(SAMPLES).map((form): Edit => ({
  file: "README.md",
  change: (text) => `${text}\n${sample(form)}\n`,
  blocker: new RegExp(`^S-1 README\\.md: looks like ${form.replaceAll(/[().]/g, "\\$&")}$`),
}));

interface Edit {
  file: string;
  change: (text: string) => string;
  /** What must be among the blockers because of this edit. */
  blocker: RegExp;
}

/** Sabotages of one copy, each with its own blocker: a validation takes seconds, so those that it finds at one stage share one. */
const COPIES: Readonly<Record<string, readonly Edit[]>> = {
  "secrets and personal data in titles and files": [
    {
      file: "suite.json",
      change: withTitle("SL-014", `the plan's 30 days, milliseconds kept, one change ${TOKEN}`),
      blocker: /^S-1 SL-014 .*GitHub token/,
    },
    {
      file: "suite.json",
      change: withTitle("SL-015", `the plan's 30 days of ${EMAIL}, milliseconds kept, one change`),
      blocker: /^S-1 SL-015 .*e-mail address/,
    },
    {
      file: "suite.json",
      change: withTitle("SL-016", `the plan's 30 days, milliseconds kept, one change, ${CARD}`),
      blocker: /^S-1 SL-016 .*card number/,
    },
    ...IN_FILES,
    {
      file: "reference/instants.py",
      change: (text) => `${text}\n# ${EMAIL}\n`,
      blocker: /^S-1 reference\/instants\.py.*e-mail address/,
    },
  ],
  "flags, rules and titles that the data do not bear out, and cases that repeat others": [
    {
      file: "suite.json",
      change: swapped("boundary", "SL-049", "SL-051"),
      blocker: /^X-7 SL-049.*15m\+1/,
    },
    {
      file: "suite.json",
      change: inCase("SL-050", "2026-03-10T11:45:00.000Z", "2026-03-10T11:40:00.000Z"),
      blocker: /^X-7 SL-050.*15m=/,
    },
    {
      file: "suite.json",
      change: inCase("SL-053", "2026-03-10T10:00:00.000Z", "2026-03-10T07:00:00.000Z"),
      blocker: /^X-7 SL-053.*2h=/,
    },
    {
      file: "suite.json",
      change: inCase("SL-093", '"boundary":"attempt="', '"boundary":"universe"'),
      blocker: /^X-7 SL-093: says universe/,
    },
    {
      file: "suite.json",
      change: inCase("SL-033", '"rules":["IU-4"]', '"rules":["IU-3"]'),
      blocker: /^X-8 SL-033.*IU-3/,
    },
    {
      file: "suite.json",
      change: withTitle("SL-029", "exactly 24 hours left: active"),
      blocker: /^X-9 SL-029/,
    },
    { file: "suite.json", change: withTitle("SL-027", "a case"), blocker: /^X-9 SL-027/ },
    {
      file: "suite.json",
      change: swapped("title", "SL-075", "SL-079"),
      blocker: /^X-9 SL-075/,
    },
    {
      file: "suite.json",
      change: inSuite((find) => {
        const { input, calls, expected } = find("SL-084");
        Object.assign(find("SL-085"), { input, calls, expected });
      }),
      blocker: /^X-10 SL-085.*SL-084/,
    },
    {
      file: "suite.json",
      change: inSuite((find) => {
        const { input, calls, expected } = find("SL-071");
        const text = JSON.stringify({ input, calls, expected }).replaceAll("0000d0", "0000d7");
        Object.assign(find("SL-072"), members.parse(JSON.parse(text)));
      }),
      blocker: /^X-10 SL-072.*SL-071/,
    },
  ],
  "one mutant an entry": [
    {
      file: "validator/mutants.py",
      change: code("yield from _generate(entry, originals)", "yield next(_generate(entry, originals))"),
      blocker: /^N-1 uuid-uppercase: has 1 mutants, must have [0-9]{3}/,
    },
  ],
  "one mutant a check": [
    {
      file: "negative/matrix.json",
      change: inMatrix((_, mutants) => mutants.slice(0, 1)),
      blocker: /^N-1 manifest-ids: has 0 mutants that strike/,
    },
  ],
  "trivial mutants": [
    {
      file: "negative/matrix.json",
      change: inMatrix((_, mutants) =>
        mutants.map((one) =>
          one["rule"] === "C-5" && "patch" in one
            ? { ...one, patch: [{ op: "replace", path: "/expected/output", value: {} }] }
            : one,
        ),
      ),
      blocker: /^N-1 archive-normalized-path: has 5 mutants that strike SL-067 \/expected\/output, must be 0/,
    },
  ],
  "a matrix that always says rejected": [
    {
      file: "validator/matrix.py",
      change: code('    if rules is None:\n        return "equivalent"', '    return "rejected"'),
      blocker: /^SELF_CHECK control 1 of the matrix/,
    },
  ],
  "a judge that skips a family": [
    {
      file: "validator/judge.py",
      change: code(
        "        found = self._schemas.case_findings(case) + self._pairs(case)\n",
        `        if case.get("family") == "derive_deadline":
            return Judgement([], recompute(case, ALL_ON).produced)
        found = self._schemas.case_findings(case) + self._pairs(case)\n`,
      ),
      blocker: /^SELF_CHECK derive_deadline-semantic/,
    },
  ],
  "a comparison that skips a family": [
    {
      file: "validator/judge.py",
      change: code(
        '    """Rules C-3, C-4 and C-5."""\n',
        '    """Rules C-3, C-4 and C-5."""\n    if case["family"] == "project_library":\n        return []\n',
      ),
      // Its rules are then missed by no case: that is told first.
      blocker: /^X-8 PL-1/,
    },
  ],
  "a reference that reads the clock, opens a socket and throws dice": [
    {
      file: "reference/evaluate_expiry.py",
      change: code("from . import instants\n", "import time\n\nfrom . import instants\n\ntime.time()\n"),
      blocker: /^R-1 reference\/evaluate_expiry\.py.*imports time/,
    },
    {
      file: "reference/instants.py",
      change: (text) =>
        text.replace(
          "from datetime import date\n",
          "from datetime import date, datetime\n\ndatetime.now()\ndate.today()\n",
        ),
      blocker: /^R-1 reference\/instants\.py.*imports datetime of datetime/,
    },
    {
      file: "reference/instants.py",
      change: (text) => `${text}\ndate.today()\n`,
      blocker: /^R-1 reference\/instants\.py.*reaches today/,
    },
    {
      file: "reference/derive_deadline.py",
      change: code(
        "from . import instants\n",
        "from . import instants\nsocket = __import__('socket').socket()\n",
      ),
      blocker: /^R-1 reference\/derive_deadline\.py.*uses __import__/,
    },
    {
      file: "reference/canonical.py",
      change: (text) => `${text}\njson.codecs.sys.modules["random"].random()\n`,
      blocker: /^R-1 reference\/canonical\.py.*reaches json\.codecs/,
    },
  ],
};

describe("a storage-lifecycle suite that was sabotaged and sealed ends BLOCKED:", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "postern-sabotage-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, edits] of Object.entries(COPIES)) {
    it(name, { timeout: LIMIT_MS }, async () => {
      const copy = copySuite(folder, name);
      for (const { file, change } of edits) edit(copy, file, change);
      await seal(
        copy,
        edits.map(({ file }) => file),
      );
      const { status, output } = await run(suitePython(), [
        join(copy, "validate.py"),
        "--without-production",
      ]);
      assert.equal(status, 1, output);
      const blockers = blockersOf(copy);
      const missed = edits.filter(({ blocker }) => !blockers.some((one) => blocker.test(one)));
      assert.deepEqual(
        missed.map(({ blocker }) => blocker),
        [],
        blockers.join("\n"),
      );
    });
  }

  it(
    "a reference that reads the clock where its source does not show it",
    { timeout: LIMIT_MS },
    async () => {
      const copy = copySuite(folder, "sandbox");
      edit(copy, "reference/instants.py", (text) => `${text}\nimport time\n`);
      const sandbox = join(copy, "validator", "sandbox.py");
      const clean = await run(suitePython(), ["-I", "-S", sandbox, suiteFolder]);
      assert.equal(clean.status, 0, clean.output);
      const { status, output } = await run(suitePython(), ["-I", "-S", sandbox, copy]);
      assert.equal(status, 1);
      assert.match(output, /ImportError: time is not on the list of what may be imported/);
    },
  );

  for (const [what, file] of [
    ["check", "switch-off-checks.py"],
    ["place that blocks a run", "switch-off-runs.py"],
  ] as const) {
    it(`a validator of which any ${what} is switched off`, { timeout: LIMIT_MS }, async () => {
      const script = join(import.meta.dirname, "support", file);
      const { status, output } = await run(suitePython(), [script, suiteFolder]);
      assert.equal(status, 0, output);
      assert.match(output, /^[0-9]{2,3} (checks|places), 0 unnoticed/m);
    });
  }

  it("an old PASSED, on a disk that is full", { timeout: LIMIT_MS }, async () => {
    const copy = copySuite(folder, "disk");
    writeFileSync(evidenceFile(copy), '{"state": "PASSED"}\n');
    // No file may grow: what a process writes fails as on a full disk.
    const command = `ulimit -f 0; exec "$0" "$1" --without-production`;
    const { status, output } = await run("sh", ["-c", command, suitePython(), join(copy, "validate.py")]);
    assert.equal(status, 4, output);
    assert.equal(existsSync(evidenceFile(copy)), false);
  });
});
