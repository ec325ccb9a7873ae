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

export function instant<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): Parsed<Name, string> {
  const value = text(search, name)[name];
  return only(search, name, value !== undefined && !Number.isNaN(Date.parse(value)) ? value : undefined);
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
