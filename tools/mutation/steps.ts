/** Which steps mutation testing leaves out: what is done for its effect alone, and whose value nobody uses. */
import { isLogCall, type Path } from "./words.ts";

const STEPS = /^(?:Optional)?CallExpression$|^(?:Assignment|Update)Expression$/;

/** Whether the node is such a step. What is logged is left alone, as its text is. */
export function isStep({ node, parentPath }: Path): boolean {
  const isDeletion = node.type === "UnaryExpression" && node.operator === "delete";
  if (!isDeletion && (!STEPS.test(node.type) || node.callee?.type === "Super" || isLogCall(node)))
    return false;
  return isUnused(parentPath);
}

/** Whether the value at this place goes nowhere; what is awaited or void may stand between. */
function isUnused(path: Path | null): boolean {
  const { type, operator } = path?.node ?? {};
  if (type === "ExpressionStatement" || (type === "UnaryExpression" && operator === "void")) return true;
  return type === "AwaitExpression" && isUnused(path?.parentPath ?? null);
}
