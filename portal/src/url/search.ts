/**
 * Parsers of the URL's query: what does not fit is as if it were not there. It is
 * undefined and not left out, since the router lays the result over the query.
 */

type Parsed<Name extends string, Value> = { [Key in Name]?: Value | undefined };

export function text<Name extends string>(search: Record<string, unknown>, name: Name): Parsed<Name, string> {
  const given = search[name];
  return only(search, name, typeof given === "string" && given !== "" ? given : undefined);
}

export function oneOf<Name extends string, Value extends string>(
  search: Record<string, unknown>,
  name: Name,
  values: readonly Value[],
): Parsed<Name, Value> {
  return only(
    search,
    name,
    values.find((one) => one === search[name]),
  );
}

/** As the API takes it. A browser's own parser takes more, and guesses: it reads "5" as May 2001. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

function isInstant(value: string): boolean {
  const day = INSTANT.exec(value)?.[1];
  if (day === undefined || Number.isNaN(Date.parse(value))) return false;
  // The parser takes the 30th of February for the 2nd of March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

export function instant<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): Parsed<Name, string> {
  const value = text(search, name)[name];
  return only(search, name, value !== undefined && isInstant(value) ? value : undefined);
}

function only<Name extends string, Value>(
  search: Record<string, unknown>,
  name: Name,
  value: Value | undefined,
): Parsed<Name, Value> {
  const result: Parsed<Name, Value> = {};
  if (Object.hasOwn(search, name)) result[name] = value;
  return result;
}
