/** A command on a machine whose clock is an hour behind that of Postern. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { runHere } from "./support/command.ts";
import { createTestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram } from "./support/program.ts";

const HOUR_MS = 3_600_000;

it("a command whose clock is behind is told of the clocks, for its secret is the right one", async (test) => {
  const database = await createTestDatabase();
  test.after(() => database.drop());
  const env = await sharedSettings(database.url, "");
  const program = await startProgram(["api"], env);
  test.after(() => program.end("SIGTERM"));
  test.mock.timers.enable({ apis: ["Date"], now: Date.now() - HOUR_MS });
  const { code, printed, errors } = await runHere(["tenants", "list", "--url", program.url], env);
  assert.deepEqual([code, printed], [1, '{"error":"Unauthorized"}\n']);
  assert.match(errors, /\(the token has expired\)\. .*clock/);
  assert.doesNotMatch(errors, /SESSION_JWT_SECRET/);
});
