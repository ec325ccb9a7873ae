/** A process that may open hardly any file. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestDatabase } from "./support/postgres.ts";
import { MAIN, runProgram, sharedSettings } from "./support/program.ts";

it("a start that reaches its limit of open files says so in two lines", async (test) => {
  const database = await createTestDatabase();
  test.after(() => database.drop());
  const env = await sharedSettings(database.url, "");
  const words = ["-c", `ulimit -n 64 && exec "$0" up`, MAIN];
  const { code, errors } = await runProgram(words, env, "/bin/sh");
  assert.equal(code, 1);
  assert.match(errors, /^postern:\n {2}.*EMFILE.*\n {2}.*LimitNOFILE.*\n$/);
});
