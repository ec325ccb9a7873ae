import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { captured } from "../../test/support/command.ts";
import { makeProgress } from "./progress.ts";

const wasTerminal = process.stderr.isTTY;
afterEach(() => {
  process.stderr.isTTY = wasTerminal;
});

/** What is written of these texts and of the end. */
async function written(
  texts: readonly string[],
  { isTerminal = false, isQuiet = false } = {},
): Promise<string> {
  process.stderr.isTTY = isTerminal;
  const { errors } = await captured(async () => {
    const progress = makeProgress(isQuiet);
    for (const text of texts) progress.show(text);
    progress.end();
  });
  return errors;
}

describe("progress", () => {
  it("is a line for each change, and none where nothing changed", async () => {
    assert.equal(
      await written(["1 of 3", "1 of 3", "2 of 3", "2 of 3", "1 of 3"]),
      "1 of 3\n2 of 3\n1 of 3\n",
    );
  });

  it("at a terminal is one line that changes, and ends with a new one", async () => {
    const isTerminal = true;
    assert.equal(
      await written(["1 of 3", "1 of 3", "2 of 3"], { isTerminal }),
      "\r\u001b[K1 of 3\r\u001b[K2 of 3\n",
    );
    assert.equal(await written([], { isTerminal }), "");
  });

  it("is silent where it is not wanted", async () => {
    for (const isTerminal of [false, true]) {
      assert.equal(await written(["1 of 3"], { isTerminal, isQuiet: true }), "");
    }
  });
});
