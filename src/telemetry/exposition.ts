/** The metrics of a process as Prometheus reads them: each family once, with the samples of every shard. */
import type { Metrics } from "./metrics.ts";

type Family = { head: string; samples: string };

/** Without shards, the process's own alone. Of a family that shards have, the process itself has none. */
export async function exposeMetrics(process: Metrics, shards: readonly Metrics[]): Promise<string> {
  if (shards.length === 0) return process.registry.metrics();
  const families = new Map<string, Family>();
  for (const { registry } of shards) {
    for (const [name, { head, samples }] of familiesOf(await registry.metrics())) {
      const earlier = families.get(name);
      families.set(name, { head, samples: `${earlier?.samples ?? ""}${samples}` });
    }
  }
  for (const [name, family] of familiesOf(await process.registry.metrics())) {
    if (!families.has(name)) families.set(name, family);
  }
  return Array.from(families.values(), ({ head, samples }) => `${head}${samples}`).join("\n");
}

function familiesOf(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  for (const part of text.split(/(?=^# HELP )/m)) {
    const lines = part.split("\n").filter((line) => line !== "");
    const name = /^# HELP (\S+)/.exec(part)?.[1];
    if (name === undefined) continue;
    const [head, samples] = [lines.filter(isComment), lines.filter((line) => !isComment(line))].map((some) =>
      some.map((line) => `${line}\n`).join(""),
    );
    families.set(name, { head: head ?? "", samples: samples ?? "" });
  }
  return families;
}

function isComment(line: string): boolean {
  return line.startsWith("#");
}
