/** A short run of `node bench/fuzz-urls.ts`; that one tries a million inputs. */
import { equal, ok } from "node:assert/strict";
import { it } from "node:test";
import { fuzz } from "../../test/support/url-fuzz.ts";

it("the rules for URLs and addresses agree with an independent classifier on 8,000 hostile inputs", () => {
  const { inputs, accepted, disagreement } = fuzz(8_000, 7);
  equal(disagreement, null);
  equal(inputs, 8_000);
  // Otherwise two classifiers that refuse everything would agree too.
  ok(accepted > 800, `${accepted} accepted`);
});
