/** What lists that come in pages have in common: numbers and instants in a query, and the way to the next page. */
import * as z from "zod";
import { UUID_PATTERN } from "../shared/id.ts";

/** Whole numbers from text, up to JavaScript's safe integers. */
export function integerText(min: number, max: number, fallback: number) {
  return z
    .string()
    .regex(/^[+-]?[0-9]+$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(fallback)
    .meta({ type: "integer", minimum: min, maximum: max });
}

/** An id, of a place in a list; `name` with its article, as in "an event id". */
export function idText<Id extends string>(parse: (text: string) => Id | null, name: string) {
  return z
    .string()
    .transform((text, context) => {
      const id = parse(text);
      if (id !== null) return id;
      context.addIssue({ code: "custom", message: `must be ${name}` });
      return z.NEVER;
    })
    .meta({ pattern: UUID_PATTERN })
    .optional();
}

/** A date-time of a caller. */
export const givenInstant = z.iso.datetime({
  offset: true,
  error({ code, input }) {
    if (code !== "invalid_format") return undefined;
    // What a + becomes where a caller did not encode it, as in the time that Python's isoformat() writes.
    return /T\S+ [0-9]{2}:[0-9]{2}$/.test(String(input))
      ? "has a space where its offset begins: a + in a query is written %2B"
      : "must be a date-time with its offset, such as 2026-01-31T10:00:00Z";
  },
});

export const instantText = givenInstant.transform(ceilToMs);

/** Log times are whole milliseconds, so a bound between two of them is as good as the later one. */
function ceilToMs(text: string): number {
  const fraction = /\.([0-9]+)/.exec(text)?.[1] ?? "";
  const hasMore = /[1-9]/.test(fraction.slice(3));
  return Date.parse(text.replace(/\.([0-9]{1,3})[0-9]*/, ".$1")) + (hasMore ? 1 : 0);
}

/** What a list's header `Link` is, for the document. */
export const NEXT_PAGE = 'The next page, with `rel="next"`. Absent on the last one.';

/** The same list, from before an id on; the value of a `Link` header. */
export function linkBefore(url: string, id: string): string {
  return linkToPage(url, { before: id });
}

/** The same list with another bound. */
export function linkToPage(url: string, bound: { before: string } | { after: string }): string {
  const mark = url.indexOf("?");
  const path = mark === -1 ? url : url.slice(0, mark);
  const parameters = new URLSearchParams(mark === -1 ? "" : url.slice(mark));
  parameters.delete("page");
  for (const [name, id] of Object.entries(bound)) parameters.set(name, id);
  return `<${path}?${parameters.toString()}>; rel="next"`;
}
