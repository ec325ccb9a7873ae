/** Waiting in tests. */
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { withinLimit } from "../../src/shared/time-limit.ts";
import { MUTATION } from "./mutation.ts";

/** What a look answers while it has not found what it waits for. */
type NotYet = null | undefined | false;

/** A count or a list is never "not yet", not even 0 or an empty one: to wait for it is not to wait. */
type Faulty<Found> = [Extract<Found, NotYet>] extends [never]
  ? "it always finds something: answer null, undefined or false until it has"
  : [Extract<Found, number>] extends [never]
    ? never
    : "it finds 0 too: compare the number";

/**
 * Shorter than a test's own limit, which cannot say what was waited for. Mutation
 * testing sets it near the need, because a mutant that stops deliveries is waited for in vain.
 */
const WAIT_LIMIT_MS = Number(process.env[MUTATION.waitLimit] ?? 60_000);
const PAUSE_MS = 20;

/** Waits until the look finds something. In vain, it rejects with the text of the look and where it was called. */
export async function eventually<Found>(
  look: () => Promise<Found>,
  ...faulty: [Faulty<Found>] extends [never] ? [] : [Faulty<Found>]
): Promise<Exclude<Found, NotYet>> {
  assert.equal(faulty.length, 0);
  const inVain = new Error(`waited ${WAIT_LIMIT_MS / 1000} s in vain for: ${look.toString()}`);
  const endsAt = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    // A look may hang as well.
    const found = await withinLimit(look(), endsAt - performance.now(), () => inVain);
    if (isFound(found)) return found;
    if (performance.now() + PAUSE_MS > endsAt) throw inVain;
    await setTimeout(PAUSE_MS);
  }
}

function isFound<Found>(found: Found): found is Exclude<Found, NotYet> {
  return found !== null && found !== undefined && found !== false;
}
