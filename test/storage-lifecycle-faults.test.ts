/**
 * Faults put into a copy of production's rules: random inputs through the copy and
 * through the suite's reference must show every one of them.
 */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import type { compareImplementations } from "../tools/suite/differential/differential.ts";
import { ReferenceProcess, type Reference } from "../tools/suite/differential/reference.ts";
import type { FamilyName } from "../tools/suite/families.ts";
import { checkout, edit, suiteFolder, suitePython } from "./support/suite-copy.ts";

const LIMIT_MS = 240_000;
/** Inputs of the family; `npm run suite` takes more. */
const INPUTS = 300;

interface Fault {
  name: string;
  family: FamilyName;
  file: string;
  from: string;
  to: string;
}

const FAULTS: readonly Fault[] = [
  {
    name: "attempts compared as text",
    family: "project_library",
    file: "project-library.ts",
    from: "row.attempt > known.attempt",
    to: "String(row.attempt) > String(known.attempt)",
  },
  {
    name: "a library of 8 rows at most",
    family: "project_library",
    file: "project-library.ts",
    from: "input.rows.flatMap",
    to: "input.rows.slice(0, 8).flatMap",
  },
  {
    name: "a library of 512 rows at most",
    family: "project_library",
    file: "project-library.ts",
    from: "input.rows.flatMap",
    to: "input.rows.slice(0, 512).flatMap",
  },
  {
    name: "equal times in any order",
    family: "project_library",
    file: "project-library.ts",
    from: "return left.row.id < right.row.id ? -1 : 1;",
    to: "return 0;",
  },
  {
    name: "attempts superseded across kinds",
    family: "project_library",
    file: "project-library.ts",
    from: "${candidate.row.delivery_id} ${candidate.row.kind}",
    to: "${candidate.row.delivery_id}",
  },
  {
    name: "one more page than there is",
    family: "project_library",
    file: "project-library.ts",
    from: "remaining.length > items.length",
    to: "remaining.length >= input.limit",
  },
  {
    name: "keys ordered by UTF-16 units",
    family: "reconcile_objects",
    file: "values.ts",
    from: "return Buffer.compare(Buffer.from(left), Buffer.from(right));",
    to: "return Buffer.from(left) === null ? 0 : left < right ? -1 : left > right ? 1 : 0;",
  },
  {
    name: "a blast radius that ends at 8",
    family: "reconcile_objects",
    file: "reconcile-objects.ts",
    from: "destructive > input.run.max_destructive",
    to: "destructive > input.run.max_destructive && destructive < 8",
  },
  {
    name: "a blast radius of 32 at most",
    family: "reconcile_objects",
    file: "reconcile-objects.ts",
    from: "destructive > input.run.max_destructive",
    to: "destructive > Math.min(32, input.run.max_destructive)",
  },
  {
    name: "a page of 500 keys at most",
    family: "reconcile_objects",
    file: "reconcile-classify.ts",
    from: ".toSorted(compareBytes)\n    .map((key) => ({",
    to: ".toSorted(compareBytes)\n    .slice(0, 500)\n    .map((key) => ({",
  },
  {
    name: "a key listed twice",
    family: "reconcile_objects",
    file: "reconcile-classify.ts",
    from: "compareBytes(previous, key) < 0",
    to: "compareBytes(previous, key) <= 0",
  },
  {
    name: "events counted in 31 bits",
    family: "reconcile_objects",
    file: "reconcile-objects.ts",
    from: "sequence: firstSequence + index",
    to: "sequence: (firstSequence + index) % 2_147_483_647",
  },
  {
    name: "settled a moment late",
    family: "reconcile_objects",
    file: "reconcile-judge.ts",
    from: "quietMs(context) < SETTLE_MS",
    to: "quietMs(context) <= SETTLE_MS",
  },
  {
    name: "confirmed a moment late",
    family: "reconcile_objects",
    file: "reconcile-judge.ts",
    from: "ageMs < CONFIRM_MS",
    to: "ageMs <= CONFIRM_MS",
  },
  {
    name: "the end of 32-bit time",
    family: "evaluate_expiry",
    file: "instants.ts",
    from: "return Date.parse(instant);",
    to: "return Math.min(Date.parse(instant), 2_147_483_647_000);",
  },
  {
    name: "two digits of the year",
    family: "derive_deadline",
    file: "instants.ts",
    from: "return Date.parse(instant);",
    to: 'return Date.parse(instant.slice(2, 4) > "68" ? `19${instant.slice(2)}` : instant);',
  },
  {
    name: "months for days",
    family: "derive_deadline",
    file: "derive-deadline.ts",
    from: "days * DAY_MS",
    to: "(days === 30 ? 31 : days) * DAY_MS",
  },
  {
    name: "a hold that wins when equal",
    family: "derive_deadline",
    file: "derive-deadline.ts",
    from: "toMs(input.hold_until) > deadlineMs",
    to: "toMs(input.hold_until) >= deadlineMs",
  },
  {
    name: "revisions in 32 bits",
    family: "derive_deadline",
    file: "derive-deadline.ts",
    from: "revision: input.revision,",
    to: "revision: input.revision | 0,",
  },
  {
    name: "sizes compared in 32 bits",
    family: "validate_delivery",
    file: "identity.ts",
    from: "row.size === head.size",
    to: "row.size >>> 0 === head.size >>> 0",
  },
  {
    name: "attempts of one digit",
    family: "validate_delivery",
    file: "object-key.ts",
    from: "[1-9][0-9]{0,2}",
    to: "[1-9][0-9]{0,1}",
  },
  {
    name: "the attempt of any later one",
    family: "validate_delivery",
    file: "validate-delivery.ts",
    from: "object.attempt !== delivery.latest_attempt",
    to: "object.attempt > delivery.latest_attempt",
  },
  {
    name: "the length of a key in characters",
    family: "validate_object_key",
    file: "object-key.ts",
    from: "Buffer.byteLength(key) > MAX_KEY_BYTES",
    to: "Buffer.from(key) !== null && key.length > MAX_KEY_BYTES",
  },
  {
    name: "attempt 1,000",
    family: "validate_object_key",
    file: "values.ts",
    from: "integer(1, 999)",
    to: "integer(1, 1000)",
  },
  {
    name: "the length of a path in characters",
    family: "validate_archive",
    file: "validate-archive.ts",
    from: "Buffer.byteLength(path) > max.path_bytes",
    to: "Buffer.from(path) !== null && path.length > max.path_bytes",
  },
  {
    name: "names folded beyond ASCII",
    family: "validate_archive",
    file: "archive-path.ts",
    from: "value.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())",
    to: "value.toLowerCase()",
  },
  {
    name: "a ratio that is rounded down",
    family: "validate_archive",
    file: "validate-archive.ts",
    from: "size > max.entry_ratio * compressed_size",
    to: "Math.floor(size / compressed_size) > max.entry_ratio",
  },
  {
    name: "totals in 32 bits",
    family: "validate_archive",
    file: "validate-archive.ts",
    from: "reduce((sum, { size }) => sum + size, 0)",
    to: "reduce((sum, { size }) => (sum + size) >>> 0, 0)",
  },
  {
    name: "the first 64 entries",
    family: "validate_archive",
    file: "validate-archive.ts",
    from: "...input.entries.flatMap",
    to: "...input.entries.slice(0, 64).flatMap",
  },
  {
    name: "a bucket's name of 62 letters at most",
    family: "validate_bucket",
    file: "validate-bucket.ts",
    from: "{1,61}",
    to: "{1,60}",
  },
];

const compared = z.object({
  compareImplementations: z.custom<typeof compareImplementations>((value) => typeof value === "function"),
});

/** Faults of one family are met by the same inputs: each is asked once. */
function remembering(reference: Reference): Reference {
  const answers = new Map<string, Promise<string>>();
  return {
    ask(question) {
      const answer = answers.get(question) ?? reference.ask(question);
      answers.set(question, answer);
      return answer;
    },
  };
}

async function differencesOf(family: FamilyName, copy: string, reference: Reference) {
  // Each copy is a module graph of its own.
  const file = join(copy, "tools", "suite", "differential", "differential.ts");
  const module = compared.parse(await import(pathToFileURL(file).href));
  return module.compareImplementations({
    reference,
    seed: 1,
    count: INPUTS,
    families: [family],
    onFamily: () => {},
  });
}

describe("random inputs through both implementations show", { concurrency: 2 }, () => {
  let folder = "";
  let program: ReferenceProcess;
  let reference: Reference;
  before(() => {
    program = new ReferenceProcess(suitePython(), suiteFolder);
    reference = remembering(program);
    folder = mkdtempSync(join(tmpdir(), "postern-faults-"));
    symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  });
  after(() => {
    program.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function copyOf(name: string): string {
    const copy = join(folder, name.replaceAll(/[^a-z0-9]+/gi, "-"));
    mkdirSync(copy);
    for (const part of ["src/storage/rules", "tools/suite", "package.json"]) {
      cpSync(join(checkout, part), join(copy, part), { recursive: true });
    }
    return copy;
  }

  for (const fault of FAULTS) {
    it(`the fault: ${fault.name}`, { timeout: LIMIT_MS }, async () => {
      const copy = copyOf(fault.name);
      edit(copy, join("src", "storage", "rules", fault.file), (text) => text.replace(fault.from, fault.to));
      const differences = await differencesOf(fault.family, copy, reference);
      assert.equal(differences.length, 1, `not seen in ${INPUTS} inputs of ${fault.family}`);
    });
  }
});
