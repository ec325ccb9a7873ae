/** Answers of several shards as one. Pure, but for {@link askAll}. */

/** The first answer of any; without one, an error that says more than that the shard does not know it. */
export async function askAll<Part, Answer>(
  parts: readonly Part[],
  ask: (part: Part) => Promise<Answer>,
  isUnknown: (error: unknown) => boolean,
): Promise<Answer> {
  const results = await Promise.allSettled(parts.map(ask));
  const found = results.find((result) => result.status === "fulfilled");
  if (found !== undefined) return found.value;
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  throw errors.find((error) => !isUnknown(error)) ?? errors[0];
}

/** Pages in the order of the bytes of ids, as the page of one. */
export function mergeTenants<Tenant extends { id: string }>(
  pages: readonly (readonly Tenant[])[],
  { limit }: { limit: number },
): Tenant[] {
  const all = pages
    .flat()
    .toSorted((one, other) => Buffer.compare(Buffer.from(one.id), Buffer.from(other.id)));
  return all.slice(0, limit);
}

type Report = { reasons: string[]; warnings: string[] };

/** What all shards say is the process's. What some say is a warning with their names, unless no shard is ready. */
export function mergeReports(shards: readonly { name: string; report: Report }[]): Report {
  const isAnyReady = shards.some(({ report }) => report.reasons.length === 0);
  const [reasons, warnings] = (["reasons", "warnings"] as const).map((kind) => {
    const [first, ...others] = shards.map(({ report }) => report[kind]);
    const common = (first ?? []).filter((text) => others.every((texts) => texts.includes(text)));
    const named = shards.flatMap(({ name, report }) =>
      report[kind].filter((text) => !common.includes(text)).map((text) => `shard ${name}: ${text}`),
    );
    return [...(shards.length === 1 ? named : common), ...named];
  });
  if (isAnyReady) return { reasons: [], warnings: [...(reasons ?? []), ...(warnings ?? [])] };
  return { reasons: reasons ?? [], warnings: warnings ?? [] };
}
