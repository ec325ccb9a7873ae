import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fastify } from "fastify";
import { Refusal, type Issue } from "../shared/refusal.ts";
import { StoreUnavailableError } from "../storage/bytes/bucket.ts";
import { answerError } from "./error-answers.ts";

/** What a caller gets whose request ends with the error. */
async function answerTo(error: Error, headers: Record<string, string> = {}) {
  const app = fastify();
  app.setErrorHandler(answerError);
  app.get("/", () => {
    throw error;
  });
  const answer = await app.inject({ url: "/", headers });
  const { "retry-after": retryAfter, "www-authenticate": asked } = answer.headers;
  return { status: answer.statusCode, body: answer.json(), retryAfter, asked };
}

describe("the answer to an error", () => {
  it("is to come again where a database or an object store is out of reach, and tells nothing of it", async () => {
    const away = { status: 503, body: { error: "Service unavailable" }, retryAfter: "2", asked: undefined };
    const refused = Object.assign(new Error("10.0.0.7"), { code: "ECONNREFUSED" });
    for (const error of [new StoreUnavailableError("10.0.0.7"), refused]) {
      assert.deepEqual(await answerTo(error), away);
    }
    assert.deepEqual(await answerTo(new Refusal("unavailable")), away, "where nobody knows for how long");
    assert.equal((await answerTo(new Refusal("unavailable", { retryAfterS: 5 }))).retryAfter, "5");
    const broken = { error: "Internal server error" };
    const unexpected = await answerTo(new TypeError("10.0.0.7"));
    assert.deepEqual([unexpected.status, unexpected.body], [500, broken]);
  });

  it("names the first hundred issues", async () => {
    const issues = Array.from({ length: 101 }, (_, at): Issue => ({
      path: [at],
      message: "must be so",
      code: "rule",
    }));
    const { status, body } = await answerTo(new Refusal("validation_failed", { issues }));
    assert.deepEqual([status, body], [400, { error: "Validation failed", issues: issues.slice(0, 100) }]);
  });

  it("says why a token is refused to whoever sent one, and the scheme alone to others", async () => {
    const authorization = "Bearer x";
    for (const [code, error] of [
      ["unauthorized", "invalid_token"],
      ["forbidden", "insufficient_scope"],
    ] as const) {
      const refusal = new Refusal(code, { reason: "it is so" });
      const told = `Bearer realm="postern", error="${error}", error_description="it is so"`;
      assert.equal((await answerTo(refusal, { authorization })).asked, told);
      assert.equal((await answerTo(refusal)).asked, 'Bearer realm="postern"');
    }
  });
});
