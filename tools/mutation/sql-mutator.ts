/** Has StrykerJS, which takes SQL for text and can only empty it, make the changes of sql.ts and no others. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { changesOf, HOLE } from "./sql.ts";

type Element = { type: "TemplateElement"; tail: boolean; value: { raw: string; cooked: string } };
type Node = {
  type: string;
  leadingComments?: { value: string }[] | null;
  quasis: { value: { raw: string } }[];
  expressions: object[];
};
type Mutator = { name: string; mutate: (path: { node: Node }) => Iterable<object> };

/** Templates with the comment that editors know SQL by. */
const sqlMutator: Mutator = {
  name: "Sql",
  *mutate({ node }) {
    const isSql = node.leadingComments?.some(({ value }) => value.trim() === "sql") ?? false;
    if (node.type !== "TemplateLiteral" || !isSql) return;
    const text = node.quasis.map(({ value }) => value.raw).join(HOLE);
    for (const { start, end, by } of changesOf(text)) {
      const changed = `${text.slice(0, start)}${by}${text.slice(end)}`.split(HOLE);
      // What the program puts in is neither lost nor put in twice.
      if (changed.length === node.quasis.length) yield templateOf(changed, node.expressions);
    }
  },
};

function templateOf(texts: readonly string[], expressions: readonly object[]): object {
  const quasis = texts.map((raw, index): Element => {
    return { type: "TemplateElement", tail: index === texts.length - 1, value: { raw, cooked: raw } };
  });
  // StrykerJS changes the tree that it is given.
  return { type: "TemplateLiteral", quasis, expressions: structuredClone(expressions) };
}

/** What StrykerJS goes through; its package exports no place for other mutators. */
async function listMutators(): Promise<Mutator[]> {
  const own = createRequire(join(import.meta.dirname, "..", "..", "test", "mutation", "package.json"));
  const core = createRequire(own.resolve("@stryker-mutator/core"));
  const main = core.resolve("@stryker-mutator/instrumenter");
  const { allMutators } = await import(pathToFileURL(join(dirname(main), "mutators", "mutate.js")).href);
  return allMutators;
}

const mutators = await listMutators();
mutators.splice(0, mutators.length, sqlMutator);
// StrykerJS loads the file for its effect, and wants this list of each.
export const strykerPlugins: object[] = [];
