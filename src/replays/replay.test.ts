import assert from "node:assert/strict";
import { it } from "node:test";
import { newEventId } from "../shared/id.ts";
import { causeOf, judge, type Candidate, type ReplayFilter } from "./replay.ts";

const attempt = (given: Partial<NonNullable<Candidate["newest"]>>): Candidate["newest"] => ({
  status: "failed",
  attempt: 1,
  version: 1,
  error: null,
  responseStatus: null,
  ...given,
});

/** What may be known of an event at an endpoint. */
const CANDIDATES = {
  failed: { newest: attempt({ responseStatus: 500 }) },
  timedOut: { newest: attempt({ error: "timeout" }) },
  delivered: { newest: attempt({ status: "delivered", responseStatus: 200 }) },
  missed: { newest: null },
  failedAndPending: { newest: attempt({ responseStatus: 500 }), isPending: true },
  firstPending: { newest: null, isPending: true },
  failedAndGone: { newest: attempt({ responseStatus: 500 }), event: null },
  notSubscribed: { newest: null, event: { type: "customer.created", newest: 1, versions: [1] } },
} as const;

function verdicts(filter: Partial<ReplayFilter>): { send: string[]; skip: string[] } {
  const asked = { selection: "failed", eventType: null, cause: null, ...filter } as const;
  const names = (wanted: string): string[] =>
    Object.entries(CANDIDATES).flatMap(([name, given]) => {
      const event = { type: "invoice.paid", newest: 1, versions: [1] };
      const known = { eventId: newEventId(), event, isPending: false, ...given };
      return judge(known, asked, ["invoice.*"]) === wanted ? [name] : [];
    });
  return { send: names("send"), skip: names("skip") };
}

it("selects what failed, and skips what is pending or has no body any more", () => {
  assert.deepEqual(verdicts({}), {
    send: ["failed", "timedOut"],
    skip: ["failedAndPending", "failedAndGone"],
  });
});

it("selects what the subscription matches and never had an attempt", () => {
  assert.deepEqual(verdicts({ selection: "missed" }), { send: ["missed"], skip: [] });
});

it("selects all that had an attempt or should have had one", () => {
  assert.deepEqual(verdicts({ selection: "all" }), {
    send: ["failed", "timedOut", "delivered", "missed"],
    skip: ["failedAndPending", "failedAndGone"],
  });
});

it("narrows by type, exactly or by prefix, and by cause", () => {
  assert.deepEqual(verdicts({ eventType: "invoice.paid" }).send, ["failed", "timedOut"]);
  assert.deepEqual(verdicts({ eventType: "invoice.*" }).send, ["failed", "timedOut"]);
  for (const eventType of ["invoice", "invoice.paid.*", "customer.*"]) {
    assert.deepEqual(verdicts({ eventType, selection: "all" }), { send: [], skip: [] }, eventType);
  }
  assert.deepEqual(verdicts({ cause: "http_500" }).send, ["failed"]);
  assert.deepEqual(verdicts({ cause: "timeout", selection: "all" }).send, ["timedOut"]);
});

it("names the cause of a failure, and none of anything else", () => {
  assert.equal(causeOf({ newest: attempt({ error: "dns" }) }), "dns");
  assert.equal(causeOf({ newest: attempt({ responseStatus: 404 }) }), "http_404");
  assert.equal(causeOf({ newest: attempt({}) }), "unknown");
  assert.equal(causeOf({ newest: attempt({ status: "delivered", responseStatus: 200 }) }), null);
  assert.equal(causeOf({ newest: null }), null);
});
