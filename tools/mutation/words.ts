/** What mutation testing leaves alone: words for people that no program reads. */

/** Of Babel's tree, as far as it is looked at. */
export type Node = {
  type: string;
  operator?: string;
  callee?: Node;
  property?: { name?: string };
  object?: Node;
  name?: string;
  key?: { name?: string };
  properties?: Node[];
};
export type Path = { node: Node; parent: Node | null; parentPath: Path | null };

const LEVELS = /^(?:trace|debug|info|warn|error|fatal)$/;

/** A reason not to mutate the node, none for most. */
export function reasonToSkip({ node, parent, parentPath }: Path): string | undefined {
  if (node.type !== "StringLiteral" && node.type !== "TemplateLiteral") return undefined;
  if (parent?.type === "ObjectProperty") {
    const { name = "" } = parent.key ?? {};
    const siblings = parentPath?.parent?.properties?.map(({ key }) => key?.name) ?? [];
    if (name === "name" && siblings.includes("text")) return "the name of a prepared statement";
    if (name === "help" && siblings.includes("name")) return "the text of a metric";
  }
  if (parent !== null && isLogCall(parent)) return "the text of a log line";
  if (parent?.type === "NewExpression" && /^(?:Range|Type)?Error$/.test(parent.callee?.name ?? "")) {
    if (parentPath?.parent?.type === "ThrowStatement") return "the text of a broken invariant";
  }
  return undefined;
}

export function isLogCall({ type, callee }: Node): boolean {
  if (type !== "CallExpression" && type !== "OptionalCallExpression") return false;
  if (callee?.type !== "MemberExpression" && callee?.type !== "OptionalMemberExpression") return false;
  if (!LEVELS.test(callee.property?.name ?? "")) return false;
  const target = callee.object;
  return /log$/i.test(target?.name ?? target?.property?.name ?? "");
}

export const strykerPlugins = [{ kind: "Ignore", name: "words", value: { shouldIgnore: reasonToSkip } }];
