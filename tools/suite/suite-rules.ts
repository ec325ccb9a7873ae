/** The rules over manifest and suite that the negative matrix names: M-1, M-2, U-1, U-2, X-1, X-2. */
import * as z from "zod";
import { tenantOfKey } from "../../src/storage/rules/object-key.ts";
import { ceilingName } from "../../src/storage/rules/validate-archive.ts";
import { familyName } from "./families.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

const CASES = 105;
const IDS = Array.from({ length: CASES }, (_, index) => `SL-${String(index + 1).padStart(3, "0")}`);

const manifestShape = z.strictObject({
  schemaVersion: z.literal("1"),
  suite: z.literal("storage-lifecycle"),
  caseCount: z.literal(CASES),
  firstCaseId: z.literal("SL-001"),
  lastCaseId: z.literal("SL-105"),
  orderedCaseIds: z.array(z.unknown()),
  dependencies: z.tuple([
    z.strictObject({ name: z.literal("python"), required: z.literal(true) }),
    z.strictObject({
      name: z.literal("jsonschema"),
      minimumVersion: z.literal("4.18.0"),
      required: z.literal(true),
    }),
    z.strictObject({ name: z.literal("referencing"), required: z.literal(true) }),
  ]),
  validationFailureState: z.literal("BLOCKED"),
  safety: z.strictObject({
    syntheticOnly: z.literal(true),
    containsCustomerData: z.literal(false),
    containsPdfBytes: z.literal(false),
    containsSecrets: z.literal(false),
    containsExhaustionPayloads: z.literal(false),
  }),
  evidenceFile: z.literal("validation-result.json"),
  registeredServiceMethods: z.tuple([
    z.literal("database.authorize"),
    z.literal("signer.signGet"),
    z.literal("storage.head"),
  ]),
  semanticNegativeFamilies: z.array(z.string()).refine((names) => names.join() === familyName.options.join()),
  negativeMatrixRunsRequired: z.literal(2),
  negativeCheckIds: z.array(z.string()).length(85),
});

/** M-1: every member as fixed. M-2: the case ids are exactly the sequence. */
export function judgeManifest(manifest: Json): string[] {
  const rules = manifestShape.safeParse(manifest).success ? [] : ["M-1"];
  return isSequence(isObject(manifest) ? manifest["orderedCaseIds"] : null) ? rules : [...rules, "M-2"];
}

/** U-1: as many cases as declared. U-2: in the declared order. */
export function judgeSuite(suite: Json): string[] {
  const cases = casesOf(suite);
  const rules = cases.length === CASES ? [] : ["U-1"];
  return isSequence(cases.map((one) => one["id"] ?? null)) ? rules : [...rules, "U-2"];
}

/** the eight ownerships are all shown. X-2: each ceiling is passed alone by one case. */
export function judgeCoverage(cases: readonly JsonObject[]): string[] {
  const rules: string[] = [];
  const shown = new Set(cases.filter(({ family }) => family === "authorize_download").map(ownershipOf));
  shown.delete(null);
  if (shown.size !== 8) rules.push("X-1");
  const isPassedAlone = (name: string) =>
    cases.filter((one) => one["boundary"] === `${name}+1` && violatedCeilings(one) === name).length === 1;
  if (!ceilingName.options.every(isPassedAlone)) rules.push("X-2");
  return rules;
}

/** The cases of a suite that are objects at all. */
export function casesOf(suite: Json): JsonObject[] {
  const cases = isObject(suite) ? suite["cases"] : undefined;
  return Array.isArray(cases) ? cases.filter(isObject) : [];
}

function isSequence(ids: Json | undefined): boolean {
  return Array.isArray(ids) && ids.length === IDS.length && ids.every((id, index) => id === IDS[index]);
}

const ownershipCase = z.object({
  boundary: z.string().startsWith("OWN "),
  input: z.object({ caller: z.object({ tenant_id: z.string() }) }),
  calls: z.tuple([
    z.object({
      result: z.object({
        object: z.object({ tenant_id: z.string(), key: z.string() }),
        delivery: z.object({ tenant_id: z.string() }),
      }),
    }),
  ]),
});

function ownershipOf(one: JsonObject): string | null {
  const parsed = ownershipCase.safeParse(one);
  if (!parsed.success) return null;
  const { input, calls } = parsed.data;
  const { object, delivery } = calls[0].result;
  const owners = [object.tenant_id, delivery.tenant_id, tenantOfKey(object.key)];
  return owners.map((owner) => (owner === input.caller.tenant_id ? "o" : "x")).join("");
}

const ceilingCase = z.object({
  expected: z.object({
    output: z.object({ violations: z.array(z.object({ code: z.string(), ceiling: z.string().nullable() })) }),
  }),
});

/** The ceilings a case passes, or null where anything else is wrong too. */
function violatedCeilings(one: JsonObject): string | null {
  const parsed = ceilingCase.safeParse(one);
  if (!parsed.success) return null;
  const { violations } = parsed.data.expected.output;
  return violations.every(({ code }) => code === "CEILING")
    ? violations.map((each) => each.ceiling).join()
    : null;
}
