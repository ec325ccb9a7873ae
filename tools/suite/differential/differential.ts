/**
 * Differential testing: the same random inputs through production and through
 * the Python reference. Two implementations written apart from one set of rules
 * rarely make the same mistake; where they differ, a rule is unclear or broken.
 */
import { digest, isObject, type JsonObject } from "../json.ts";
import { FAMILIES, familyName, type FamilyName } from "../families.ts";
import { produce } from "../judge.ts";
import { walk, withValueAt } from "../patch.ts";
import { GENERATORS, type Question } from "./inputs.ts";
import { withJunk } from "./junk.ts";
import { Random } from "./random.ts";
import type { Reference } from "./reference.ts";

/** Questions in flight: enough to keep both sides busy, few enough to hold in memory. */
const BATCH = 200;
/** Every so many inputs get one wrong value, to compare what the two sides admit. */
const JUNK_EVERY = 10;
const INVALID = "invalid";
const MAX_ITEMS = 64;
/** Inputs tried to make a difference smaller: one that needs hundreds of items stays as large as it is. */
const MAX_TRIES = 40;
/** Longer inputs are only checked by the schemas where something was spoiled: it is slow. */
const MAX_CHECKED_CHARACTERS = 3000;

export interface DifferentialOptions {
  reference: Reference;
  seed: number;
  /** Inputs for each family. */
  count: number;
  families: readonly FamilyName[];
  onFamily: (family: FamilyName, count: number) => void;
}

export interface Difference {
  question: Question;
  reference: string;
  production: string;
}

/** Compares all families; the first difference of each is made small and given back. */
export async function compareImplementations(options: DifferentialOptions): Promise<Difference[]> {
  const { reference } = options;
  const found: Difference[] = [];
  for (const family of options.families) {
    const different = await findDifference(family, options);
    if (different !== null) found.push(await shrink(reference, different));
    options.onFamily(family, options.count);
  }
  return found;
}

async function findDifference(
  family: FamilyName,
  { reference, seed, count }: DifferentialOptions,
): Promise<Question | null> {
  const random = new Random(seed * 100 + familyName.options.indexOf(family));
  for (let done = 0; done < count; done += BATCH) {
    const size = Math.min(BATCH, count - done);
    const questions = Array.from({ length: size }, (_, index) => makeQuestion(random, family, index));
    const answers = await Promise.all(
      questions.map(async (question) => ({ question, isSame: await agrees(reference, question) })),
    );
    const first = answers.find(({ isSame }) => !isSame);
    if (first !== undefined) return first.question;
  }
  return null;
}

function makeQuestion(random: Random, family: FamilyName, index: number): Question {
  random.begin();
  const { input, calls } = GENERATORS[family](random);
  // The schemas have the suite's bound on lists, far below production's.
  const isShort = hasShortLists(input);
  if (isShort && index % JUNK_EVERY === 0)
    return { family, input: withJunk(random, input), calls, check: true };
  const check = isShort && JSON.stringify(input).length < MAX_CHECKED_CHARACTERS;
  return { family, input, calls, check };
}

function hasShortLists(input: JsonObject): boolean {
  return [...walk(input)].every(({ value }) => !Array.isArray(value) || value.length <= MAX_ITEMS);
}

async function agrees(reference: Reference, question: Question): Promise<boolean> {
  const [wanted, got] = await Promise.all([ask(reference, question, false), answer(question, false)]);
  return wanted === got;
}

async function ask(reference: Reference, question: Question, show: boolean): Promise<string> {
  // What production refuses, the schemas must refuse; checking all would only be slow.
  const check = question.check || !FAMILIES[question.family].admits(question.input);
  return reference.ask(JSON.stringify({ ...question, check, show }));
}

async function answer({ family, input, calls }: Question, show: boolean): Promise<string> {
  if (!FAMILIES[family].admits(input)) return INVALID;
  const { calls: made, result, fault } = await produce(family, input, calls);
  const value: JsonObject = {
    calls: made.map(({ service, method, args }): JsonObject => ({ service, method, args })),
    fault: fault !== null,
    ...result,
  };
  return show ? JSON.stringify(value) : digest(value);
}

/** Leaves out list items as long as the two sides still differ. */
async function shrink(reference: Reference, question: Question): Promise<Difference> {
  let smallest = question;
  let tries = 0;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const candidate of smallerInputs(smallest)) {
      tries += 1;
      if (tries > MAX_TRIES) break;
      if (!(await agrees(reference, candidate))) {
        smallest = candidate;
        isSmaller = true;
        break;
      }
    }
  }
  return {
    question: smallest,
    reference: await ask(reference, smallest, true),
    production: await answer(smallest, true),
  };
}

/** The question with parts of its lists left out: halves first, single items last. */
function* smallerInputs(question: Question): Generator<Question> {
  const lists = [...walk(question.input)].flatMap(({ path, value }) =>
    Array.isArray(value) ? [{ path, items: value }] : [],
  );
  const longest = Math.max(0, ...lists.map(({ items }) => items.length));
  for (let size = Math.ceil(longest / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (const { path, items } of lists) {
      for (let start = 0; start < items.length; start += size) {
        const input = withValueAt(question.input, path, items.toSpliced(start, size));
        if (isObject(input)) yield { ...question, input };
      }
    }
  }
}
