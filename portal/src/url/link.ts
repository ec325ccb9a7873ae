/** The bound of the next page, out of an answer's `Link`; null on the last. */
export function pageOf(response: Response, name: "before" | "after"): string | null {
  const [, target] = /<([^>]*)>; rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
  return target === undefined ? null : new URL(target, location.origin).searchParams.get(name);
}
