/** The table that docs/testing.md shows. */
import type { Counts } from "./report.ts";

/** `of`: the mutants of the part, where only a sample was tried. */
export type Figures = Counts & { part: string; of: number | null };

export function printFigures(all: readonly Figures[]): void {
  console.log("\n| part | mutants | noticed | explained | open | noticed of the rest |");
  console.log("|---|---|---|---|---|---|");
  for (const { part, of, noticed, accepted, open } of all) {
    const tried = `${noticed + accepted + open}`;
    const cells = [`\`${part}\``, of === null ? tried : `${tried} of ${of}`, noticed, accepted, open];
    console.log(`| ${[...cells, shareOf(noticed, noticed + open, of !== null)].join(" | ")} |`);
  }
}

function shareOf(noticed: number, rest: number, isSample: boolean): string {
  if (rest === 0) return "–";
  const share = `${inPercent(noticed / rest)} %`;
  if (!isSample) return share;
  const { low, high } = boundsOf(noticed, rest);
  return `${share} (${inPercent(low)} to ${Math.ceil(100 * high)})`;
}

function inPercent(share: number): number {
  return Math.floor(100 * share);
}

const NORMAL_95 = 1.96;

/** Of a share that a sample shows: Wilson's interval, in which the share of the whole lies with 95 % confidence. */
export function boundsOf(noticed: number, of: number): { low: number; high: number } {
  const share = noticed / of;
  const square = NORMAL_95 ** 2 / of;
  const middle = (share + square / 2) / (1 + square);
  const reach = (NORMAL_95 / (1 + square)) * Math.sqrt((share * (1 - share)) / of + square / of / 4);
  return { low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
}
