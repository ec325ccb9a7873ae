/** What PostgreSQL is asked to do differently on connections of ours, whatever its administrator chose for others. */
import { queryOf } from "./url-query.ts";

/** A role that connections have for their whole life; see `roles.ts`. */
export type ServingRole = "postern_tenant" | "postern_publisher" | "postern_worker";

/**
 * Compiling a statement costs more than any of ours takes. What a transaction
 * sees is part of what statements promise, not a matter of taste. `pg` reads
 * no dates but those of ISO. Our own policies show rows, so a server that
 * would rather fail than apply them must not. Listeners are idle on purpose.
 * Days are UTC's, and midnight is missing on some days elsewhere. Texts with
 * backslashes and lists with NULL mean what they mean by default.
 */
const EVERYWHERE = [
  "jit=off",
  "default_transaction_isolation=read committed",
  "DateStyle=ISO",
  "row_security=on",
  "idle_session_timeout=0",
  "TimeZone=UTC",
  "standard_conforming_strings=on",
  "array_nulls=on",
];

/**
 * What serves is planned while tables are empty, the queue's normal state, and
 * runs with that plan when a backlog comes. So nothing may scan where there is
 * an index. Statements that must read a whole table still do.
 */
const SERVING = ["enable_seqscan=off"];

/**
 * Publishing and delivering run the same few statements all the time. Each has
 * one plan that fits every batch, so it is planned once for a connection. Left
 * to itself, PostgreSQL plans small batches anew each time: for one outcome
 * that costs as much as recording it.
 */
const PLANNED_ONCE = ["plan_cache_mode=force_generic_plan"];

function settingsOf(role: ServingRole | undefined): string[] {
  if (role === undefined) return EVERYWHERE;
  return [...EVERYWHERE, ...SERVING, ...(role === "postern_tenant" ? [] : PLANNED_ONCE)];
}

/**
 * What a client of `pg` connects with. Settings travel with the first message,
 * in `options`, so they cost no round trip. The URL's own `options` come last
 * and so win; PGOPTIONS does not count.
 */
export function connectTo(
  url: string,
  role: ServingRole | undefined,
): { connectionString: string; options: string } {
  const { connectionString, options } = takeOptions(url);
  const ours = settingsOf(role).map((setting) => `-c ${setting.replaceAll(" ", "\\ ")}`);
  return { connectionString, options: [...ours, ...(options === undefined ? [] : [options])].join(" ") };
}

/** `pg` lets the URL's options replace those given beside it. A URL without them stays as it is, to the letter. */
function takeOptions(url: string): { connectionString: string; options: string | undefined } {
  const query = queryOf(url);
  const options = query.getAll("options").at(-1);
  if (options === undefined) return { connectionString: url, options };
  query.delete("options");
  return { connectionString: `${url.slice(0, url.indexOf("?"))}?${query.toString()}`, options };
}
