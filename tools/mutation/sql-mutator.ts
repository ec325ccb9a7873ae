/** Has StrykerJS, which takes SQL for text and can only empty it, make the changes of sql.ts and no others. */
import { replaceMutators } from "./replace-mutators.ts";
import { changesOf, HOLE } from "./sql.ts";

type Element = { type: "TemplateElement"; tail: boolean; value: { raw: string; cooked: string } };
type Node = {
  type: string;
  leadingComments?: { value: string }[] | null;
  quasis: { value: { raw: string } }[];
  expressions: object[];
};

/** Templates with the comment that editors know SQL by. */
const sqlMutator = {
  name: "Sql",
  *mutate({ node }: { node: Node }): Iterable<object> {
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

await replaceMutators(sqlMutator);
// StrykerJS loads the file for its effect, and wants this list of each.
export const strykerPlugins: object[] = [];
