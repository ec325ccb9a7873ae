/** Answers of several shards as one. Pure, but for {@link askAll}. */

/** The first answer of any shard, while others are silent; without one, an error more specific than "not found". */
export async function askAll<Part, Answer>(
  parts: readonly Part[],
  ask: (part: Part) => Promise<Answer>,
  isUnknown: (error: unknown) => boolean,
): Promise<Answer> {
  try {
    return await Promise.any(parts.map(ask));
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    throw error.errors.find((one) => !isUnknown(one)) ?? error.errors[0];
  }
}

/** A tenant that is being moved has rows in two shards. */
export function findTwice<Id>(ids: readonly Id[]): Id[] {
  return [...new Set(ids.filter((id, place) => ids.indexOf(id) < place))];
}

/** Pages in the order of the bytes of ids, as the page of one. `homes`: of tenants that are in two. */
export function mergeTenants<Tenant extends { id: string; shard: string }>(
  pages: readonly (readonly Tenant[])[],
  { limit, homes }: { limit: number; homes: ReadonlyMap<string, string> },
): Tenant[] {
  const all = pages
    .flat()
    .filter(({ id, shard }) => (homes.get(id) ?? shard) === shard)
    .toSorted((one, other) => Buffer.compare(Buffer.from(one.id), Buffer.from(other.id)));
  return all.slice(0, limit);
}

type Counts = { rows: ReadonlyMap<string, number>; isCapped: boolean; held: number };

/** Rows of one tenant by table. */
export function mergeCounts(counts: readonly Counts[]): Counts {
  const rows = new Map<string, number>();
  for (const [name, count] of counts.flatMap((one) => [...one.rows]))
    rows.set(name, (rows.get(name) ?? 0) + count);
  return {
    rows,
    isCapped: counts.some(({ isCapped }) => isCapped),
    held: counts.reduce((total, { held }) => total + held, 0),
  };
}

type Report = { reasons: string[]; warnings: string[] };

/** What all shards say is the process's. What some say is a warning with their names, unless no shard is ready. */
export function mergeReports(shards: readonly { name: string; report: Report }[]): Report {
  const reasons = mergeTexts(shards.map(({ name, report }) => ({ name, texts: report.reasons })));
  const warnings = mergeTexts(shards.map(({ name, report }) => ({ name, texts: report.warnings })));
  const isAnyReady = shards.some(({ report }) => report.reasons.length === 0);
  return isAnyReady ? { reasons: [], warnings: reasons.concat(warnings) } : { reasons, warnings };
}

function mergeTexts(shards: readonly { name: string; texts: readonly string[] }[]): string[] {
  const all = shards.flatMap(({ name, texts }) => texts.map((text) => ({ name, text })));
  const isCommon = (text: string): boolean => shards.every(({ texts }) => texts.includes(text));
  const common = new Set(all.filter(({ text }) => isCommon(text)).map(({ text }) => text));
  const named = all.filter(({ text }) => !isCommon(text)).map(({ name, text }) => `shard ${name}: ${text}`);
  return [...common, ...named];
}
