/**
 * Blocks whose emptying no test noticed. Stryker has a block's emptying tried
 * before the changes within it, and those say nothing new: whoever does not
 * notice that the code is gone does not notice what it does.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { codeOf, isWithin, readAccepted, type Span } from "./report.ts";

export type ActiveMutant = {
  id: string;
  fileName: string;
  mutatorName: string;
  replacement: string;
  /** Its lines begin with 0. */
  location: Span;
};

export class UnnoticedBlocks {
  readonly #list: string;
  readonly #root: string;
  readonly #accepted = readAccepted();

  /** `folder` is common to the processes that try mutants. */
  constructor(folder: string, root: string) {
    this.#list = join(folder, ".mutation-blocks");
    this.#root = root;
  }

  /** That nobody can see that a block is gone says nothing of changes within it. */
  add(mutant: ActiveMutant): void {
    if (mutant.mutatorName !== "BlockStatement") return;
    const file = relative(this.#root, mutant.fileName).replaceAll("\\", "/");
    const code = codeOf(readFileSync(mutant.fileName, "utf8"), fromOne(mutant.location));
    if (this.#accepted.some((one) => one.file === file && one.code === code && one.replacement === "{}"))
      return;
    appendFileSync(this.#list, `${JSON.stringify([mutant.fileName, mutant.location])}\n`);
  }

  surround({ fileName, location }: ActiveMutant): boolean {
    if (!existsSync(this.#list)) return false;
    const lines = readFileSync(this.#list, "utf8").trimEnd().split("\n");
    return lines.some((line) => {
      const [file, block]: [string, Span] = JSON.parse(line);
      return file === fileName && isWithin(location, block);
    });
  }
}

function fromOne({ start, end }: Span): Span {
  return {
    start: { line: start.line + 1, column: start.column + 1 },
    end: { line: end.line + 1, column: end.column + 1 },
  };
}
