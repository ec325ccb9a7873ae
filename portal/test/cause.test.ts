/** Why an attempt failed, by its outcome. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { loadModule } from "./support/page.ts";

type Outcome = { status: string; error: string | null; response_status: number | null };

const { causeOf, textOf } = await loadModule<{
  causeOf: (outcome: Outcome) => string | null;
  textOf: (texts: { readonly [name: string]: string }, cause: string) => string;
}>("deliveries/cause.ts");

const outcome = (status: string, error: string | null, answered: number | null) =>
  causeOf({ status, error, response_status: answered });

it("the cause of a failure is its error, or else the status that it was answered with", () => {
  assert.equal(outcome("failed", "timeout", null), "timeout");
  // Headers were answered, and then too many of them.
  assert.equal(outcome("failed", "response_too_large", 200), "response_too_large");
  assert.equal(outcome("failed", null, 503), "http_503");
});

it("what did not fail has none, whatever it was answered with", () => {
  assert.equal(outcome("delivered", null, 200), null);
  assert.equal(outcome("test", null, 500), null);
  assert.equal(outcome("pending", null, null), null);
  assert.equal(outcome("failed", null, null), null);
});

it("a cause has its own words before those of its class, and any cause has some", () => {
  const texts = { http_3xx: "3", http_4xx: "4", http_410: "gone", timeout: "late", other: "any" };
  const words = ["http_410", "http_404", "http_302", "http_503", "http_200", "timeout", "toString"].map(
    (cause) => textOf(texts, cause),
  );
  assert.deepEqual(words, ["gone", "4", "3", "any", "any", "late", "any"]);
});
