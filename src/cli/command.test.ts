import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { captured } from "../../test/support/command.ts";
import { ConfigError } from "../shared/config-error.ts";
import { withClearErrors } from "./command.ts";

async function failingWith(error: Error): Promise<void> {
  await withClearErrors(async () => {
    throw error;
  });
  assert.fail("it went on");
}

describe("a command", () => {
  it("that does its work ends well and says nothing of its own", async () => {
    assert.deepEqual(await captured(() => withClearErrors(async () => undefined)), {
      code: 0,
      printed: "",
      errors: "",
    });
  });

  it("ends at once with 1 at an operator's mistake, and tells it on standard error, each line behind two spaces", async () => {
    assert.deepEqual(await captured(() => failingWith(new ConfigError("PORT is wrong\nCorrect it."))), {
      code: 1,
      printed: "",
      errors: "postern:\n  PORT is wrong\n  Correct it.\n",
    });
  });

  it("ends at once with 1 at a fault of its own, and tells that whole", async () => {
    assert.deepEqual(await captured(() => failingWith(new TypeError("x is not a function"))), {
      code: 1,
      printed: "",
      errors: "TypeError: x is not a function\n",
    });
  });
});
