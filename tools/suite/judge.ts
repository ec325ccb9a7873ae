/** Rules C-1 to C-5: a case against production. */
import { canonical, digest, isObject, textOf, type Json, type JsonObject } from "./json.ts";
import { firstDifference } from "./difference.ts";
import { FAMILIES, familyName, type FamilyName } from "./families.ts";
import { NoAnswerError, ScriptedServices, type MadeCall, type ScriptedCall } from "./ports.ts";
import { caseFrame, isOutputOf } from "./shapes.ts";

/** The suite's own bound on lists, far below production's. */
const MAX_ITEMS = 64;
const REGISTERED: ReadonlySet<string> = new Set(["database.authorize", "signer.signGet", "storage.head"]);

export type CaseRule = "C-1" | "C-2" | "C-3" | "C-4" | "C-5";

/** Which rules a case breaks, how, and the digest of what production made of it. */
export interface Judgement {
  rules: CaseRule[];
  message: string | null;
  sha256: string | null;
}

/** What production makes of a case; `fault` where it was cut short. */
export interface Production {
  calls: MadeCall[];
  result: { output: Json; mutations: Json } | null;
  fault: { rule: "C-3" | "C-5"; message: string } | null;
}

/** Judges one case, which may be any value. */
export async function judgeCase(value: Json): Promise<Judgement> {
  const parsed = parseCase(value);
  const unregistered = findUnregisteredCall(value);
  if (parsed === null || unregistered !== null) {
    const rules: CaseRule[] = [];
    if (parsed === null) rules.push("C-1");
    if (unregistered !== null) rules.push("C-2");
    const message = unregistered ?? "production's parsers do not admit the case";
    return { rules, message, sha256: null };
  }
  const produced = await produce(parsed.family, parsed.input, parsed.calls);
  return compare(parsed, produced);
}

/** Runs production on an input with scripted answers. */
export async function produce(
  family: FamilyName,
  input: Json,
  script: readonly ScriptedCall[],
): Promise<Production> {
  const services = new ScriptedServices(script);
  try {
    const result = await FAMILIES[family].run(input, services);
    return { calls: services.made, result, fault: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : "threw no error";
    const rule = error instanceof NoAnswerError ? "C-3" : "C-5";
    return { calls: services.made, result: null, fault: { rule, message } };
  }
}

interface ParsedCase {
  family: FamilyName;
  input: Json;
  calls: (MadeCall & ScriptedCall)[];
  output: Json;
  mutations: Json;
}

function parseCase(value: Json): ParsedCase | null {
  if (!isObject(value) || !caseFrame.safeParse(value).success || !hasBoundedLists(value)) return null;
  const family = familyName.safeParse(value["family"]);
  const { input = null, expected, calls } = value;
  if (!family.success || !FAMILIES[family.data].admits(input)) return null;
  if (!isObject(expected) || !Array.isArray(calls)) return null;
  const { output = null, mutations = null } = expected;
  if (!isOutputOf(family.data, output)) return null;
  return { family: family.data, input, calls: calls.flatMap(toCall), output, mutations };
}

function toCall(value: Json): (MadeCall & ScriptedCall)[] {
  if (!isObject(value)) return [];
  const { service, method, args = null, result = null } = value;
  if (typeof service !== "string" || typeof method !== "string") return [];
  return [{ service, method, args, result }];
}

function hasBoundedLists(value: Json): boolean {
  if (Array.isArray(value)) return value.length <= MAX_ITEMS && value.every(hasBoundedLists);
  return !isObject(value) || Object.values(value).every(hasBoundedLists);
}

function findUnregisteredCall(value: Json): string | null {
  const calls = isObject(value) ? value["calls"] : undefined;
  for (const call of Array.isArray(calls) ? calls : []) {
    if (!isObject(call) || !("service" in call) || !("method" in call)) continue;
    const { service, method } = call;
    const pair = `${textOf(service)}.${textOf(method)}`;
    if (!REGISTERED.has(pair)) return `${pair} is not a registered method`;
  }
  return null;
}

function compare(parsed: ParsedCase, { calls, result, fault }: Production): Judgement {
  const scripted = parsed.calls.map(({ service, method, args }): JsonObject => ({ service, method, args }));
  const made = calls.map(({ service, method, args }): JsonObject => ({ service, method, args }));
  const sides: { rule: CaseRule; pointer: string; wanted: Json; got: Json }[] = [
    { rule: "C-3", pointer: "/calls", wanted: scripted, got: made },
  ];
  if (result !== null) {
    sides.push({
      rule: "C-4",
      pointer: "/expected/mutations",
      wanted: parsed.mutations,
      got: result.mutations,
    });
    sides.push({ rule: "C-5", pointer: "/expected/output", wanted: parsed.output, got: result.output });
  }
  const broken = sides.filter(({ wanted, got }) => canonical(wanted) !== canonical(got));
  const rules = broken.map(({ rule }) => rule);
  if (fault !== null && !rules.includes(fault.rule)) rules.push(fault.rule);
  // The output tells most, so where it differs it is what the message shows.
  const shown = broken.at(-1);
  const message =
    fault?.message ?? (shown === undefined ? null : firstDifference(shown.wanted, shown.got, shown.pointer));
  return { rules, message, sha256: result === null ? null : digest({ calls: made, ...result }) };
}
