/** Parsers of the URL's query: what does not fit is left out, as if it were not there. */

export function text<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): { [Key in Name]?: string } {
  const value = search[name];
  // The router reads a text of digits as a number.
  const given = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof given === "string" && given !== "" ? only(name, given) : {};
}

export function oneOf<Name extends string, Value extends string>(
  search: Record<string, unknown>,
  name: Name,
  values: readonly Value[],
): { [Key in Name]?: Value } {
  const value = values.find((one) => one === search[name]);
  return value === undefined ? {} : only(name, value);
}

export function instant<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): { [Key in Name]?: string } {
  const given = text(search, name);
  const value = given[name];
  return value !== undefined && !Number.isNaN(Date.parse(value)) ? given : {};
}

function only<Name extends string, Value>(name: Name, value: Value): { [Key in Name]?: Value } {
  const result: { [Key in Name]?: Value } = {};
  result[name] = value;
  return result;
}
