/**
 * Dry runs of earlier: how long a test file takes and what it reaches. They
 * hold until a source, a migration, a helper of tests or the test file changes.
 *
 * StrykerJS numbers the mutants of each run anew. Within a file their order
 * stays, so here a mutant is the n-th of its file.
 */
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import type { Coverage } from "./coverage.ts";

export type KnownRun = { tookMs: number; longestTestMs: number; reached: Coverage };
/** The mutants of each changed file, in their order. */
export type Numbering = ReadonlyMap<string, readonly string[]>;

const TREE = [
  "src/**/*.ts",
  "test/support/**/*",
  "migrations/*",
  "tools/mutation/{hook.mjs,words.ts,start-and-stop.ts}",
  "package-lock.json",
];

const storedSchema = z.object({
  key: z.string(),
  tookMs: z.number(),
  longestTestMs: z.number(),
  reached: z.record(z.string(), z.record(z.string(), z.number())),
});

/** Reads it from the instrumented sources below `folder`. */
export function readNumbering(folder: string): Numbering {
  const files = globSync("src/**/*.ts", { cwd: folder }).map((file): [string, string[]] => {
    const text = readFileSync(join(folder, file), "utf8");
    const ids = [...text.matchAll(/stryMutAct_\w+\("(\d+)"\)/g)].map(([, id = ""]) => id);
    return [
      file.replaceAll("\\", "/"),
      [...new Set(ids)].toSorted((one, other) => Number(one) - Number(other)),
    ];
  });
  return new Map(files.filter(([, ids]) => ids.length > 0));
}

export class KnownRuns {
  readonly #root: string;
  readonly #folder: string;
  readonly #numbering: Numbering;
  readonly #tree: string;

  /** `root` has the sources as they are, `folder` keeps the runs. */
  constructor(root: string, folder: string, numbering: Numbering) {
    this.#root = root;
    this.#folder = folder;
    this.#numbering = numbering;
    this.#tree = hashOf(
      globSync(TREE, { cwd: root, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
        .flatMap((path) => [path.slice(root.length), readFileSync(path, "utf8")]),
    );
  }

  /** Null where it must be run. */
  find(file: string): KnownRun | null {
    const stored = this.#read(file);
    if (stored === null || stored.key !== this.#keyOf(file)) return null;
    const isWhole = [...this.#numbering.keys()].every((source) => source in stored.reached);
    if (!isWhole) return null;
    const reached: Coverage = {};
    for (const [source, counts] of Object.entries(stored.reached)) {
      const ids = this.#numbering.get(source) ?? [];
      for (const [index, count] of Object.entries(counts)) {
        const id = ids[Number(index)];
        if (id !== undefined) reached[id] = count;
      }
    }
    return { tookMs: stored.tookMs, longestTestMs: stored.longestTestMs, reached };
  }

  keep(file: string, { tookMs, longestTestMs, reached }: KnownRun): void {
    const places = [...this.#numbering].map(([source, ids]) => {
      const counts = ids.flatMap((id, index): [string, number][] => {
        const count = reached[id];
        return count === undefined ? [] : [[String(index), count]];
      });
      return [source, Object.fromEntries(counts)];
    });
    const key = this.#keyOf(file);
    const earlier = this.#read(file);
    // What was found with other sources of the part holds as well.
    const reachedEarlier = earlier?.key === key ? earlier.reached : {};
    const all = { ...reachedEarlier, ...Object.fromEntries(places) };
    const stored = { key, tookMs, longestTestMs, reached: all };
    const path = this.#pathOf(file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(stored));
  }

  #read(file: string): z.infer<typeof storedSchema> | null {
    try {
      return storedSchema.parse(JSON.parse(readFileSync(this.#pathOf(file), "utf8")));
    } catch {
      // None yet, or one of another form: it is made anew.
      return null;
    }
  }

  #keyOf(file: string): string {
    return hashOf([this.#tree, readFileSync(join(this.#root, file), "utf8")]);
  }

  #pathOf(file: string): string {
    return join(this.#folder, `${file.replaceAll("/", "-")}.json`);
  }
}

function hashOf(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text.length}:${text}`);
  return hash.digest("hex");
}
