/** Which steps of a source are left out, one at a time. */
import { equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { isStep } from "./steps.ts";
import type { Node, Path } from "./words.ts";

const call: Node = { type: "CallExpression", callee: { type: "Identifier", name: "close" } };

/** The first node within the others, the last of which is the outermost. */
function within(...[node, ...outer]: [Node, ...Node[]]): Path {
  const [parent = null] = outer;
  return { node, parent, parentPath: parent === null ? null : within(parent, ...outer.slice(1)) };
}

describe("a step whose value nobody uses", () => {
  const statement = { type: "ExpressionStatement" };

  it("is a call, an assignment, a count or a deletion", () => {
    for (const type of [
      "CallExpression",
      "OptionalCallExpression",
      "AssignmentExpression",
      "UpdateExpression",
    ])
      equal(isStep(within({ type }, statement)), true, type);
    equal(isStep(within({ type: "UnaryExpression", operator: "delete" }, statement)), true);
  });

  it("may be awaited, or void", () => {
    const wait = { type: "AwaitExpression" };
    const empty = { type: "UnaryExpression", operator: "void" };
    equal(isStep(within(call, wait, statement)), true);
    equal(isStep(within(call, empty, { type: "ArrowFunctionExpression" })), true);
    equal(isStep(within(call, wait, { type: "VariableDeclarator" })), false);
  });

  it("is no call whose answer is used, and nothing else", () => {
    equal(isStep(within(call, { type: "ReturnStatement" })), false);
    equal(isStep(within(call, { type: "UnaryExpression", operator: "!" }, statement)), false);
    equal(isStep(within({ type: "UnaryExpression", operator: "void" }, statement)), false);
    equal(isStep(within({ type: "Identifier", name: "a" }, statement)), false);
    equal(isStep(within(call)), false);
  });

  it("is no line of a log, and not what a constructor has to begin with", () => {
    const property = { name: "warn" };
    const line = { type: "MemberExpression", object: { type: "Identifier", name: "log" }, property };
    equal(isStep(within({ type: "CallExpression", callee: line }, statement)), false);
    equal(isStep(within({ type: "CallExpression", callee: { type: "Super" } }, statement)), false);
  });
});
