/**
 * `node:assert` of the built program. Where an assertion has no message, Node's
 * own makes one of the line of its call: it reads that line's tokens from its
 * beginning. A line of the bundle may begin within an expression or a text, so
 * that its tokens are none, and a SyntaxError is thrown in place of the
 * AssertionError. undici asserts what receivers send, and such an answer
 * then looked like a fault of this program.
 */
import type { Plugin } from "esbuild";

const NAMESPACE = "bundled-assert";

/** @param name of the one that is asked for: `equal` of `assert/strict` is another. */
const sourceOf = (name: string): string => `
const node = process.getBuiltinModule("node:${name}");
function assert(actual, message = "an assertion does not hold") {
  if (actual) return;
  if (message instanceof Error) throw message;
  throw new node.AssertionError({ actual, expected: true, message, operator: "==", stackStartFn: assert });
}
module.exports = Object.assign(assert, node, { ok: assert });
`;

export const bundledAssert: Plugin = {
  name: NAMESPACE,
  setup(build) {
    build.onResolve({ filter: /^(?:node:)?assert(?:\/strict)?$/ }, ({ path }) => ({
      path: path.replace("node:", ""),
      namespace: NAMESPACE,
    }));
    build.onLoad({ filter: /^/, namespace: NAMESPACE }, ({ path }) => ({ contents: sourceOf(path) }));
  },
};
