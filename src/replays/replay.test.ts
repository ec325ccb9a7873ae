import assert from "node:assert/strict";
import { it } from "node:test";
import { newEventId } from "../shared/id.ts";
import { causeOf, judge, versionToSend, type Candidate, type ReplayFilter } from "./replay.ts";

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

const select = (eventType: string, type: string | null) => {
  const event = type === null ? null : { type, newest: 1, versions: [1] };
  const filter = { selection: "failed", eventType, cause: null } as const;
  return judge({ ...CANDIDATES.failed, isPending: false, event }, filter, []);
};

it("takes a type as a whole, and a prefix up to its dot", () => {
  assert.equal(select("invoice.*", "invoice.paid.late"), "send");
  assert.equal(select("invoice.*", "invoices.paid"), "other");
  assert.equal(select("invoice.paid", "invoice.paid.late"), "other");
  // The type of an event that is gone is not known.
  assert.equal(select("invoice.*", null), "other");
});

it("misses nothing that is pending, gone or only in versions that nobody asked for", () => {
  const missed = {
    newest: null,
    isPending: false,
    event: { type: "invoice.paid", newest: 2, versions: [2] },
  };
  const filter = { selection: "missed", eventType: null, cause: null } as const;
  assert.equal(judge(missed, filter, ["invoice.paid@2"]), "send");
  assert.equal(judge(missed, filter, ["invoice.paid@1"]), "other");
  assert.equal(judge({ ...missed, isPending: true }, filter, ["invoice.*"]), "other");
  assert.equal(judge({ ...missed, event: null }, filter, ["*"]), "other");
});

it("sends the version that was attempted, or else the one that is subscribed to, or the newest", () => {
  const event = { type: "invoice.paid", newest: 3, versions: [3, 2] };
  assert.equal(versionToSend({ newest: attempt({ version: 1 }), event }, ["invoice.paid@2"]), 1);
  assert.equal(versionToSend({ newest: null, event }, ["invoice.paid@2"]), 2);
  assert.equal(versionToSend({ newest: null, event }, ["customer.*"]), 3);
  assert.equal(versionToSend({ newest: null, event: null }, ["*"]), 1);
});

it("names the cause of a failure, and none of anything else", () => {
  assert.equal(causeOf({ newest: attempt({ error: "dns" }) }), "dns");
  assert.equal(causeOf({ newest: attempt({ responseStatus: 404 }) }), "http_404");
  assert.equal(causeOf({ newest: attempt({}) }), "unknown");
  assert.equal(causeOf({ newest: attempt({ status: "delivered", responseStatus: 200 }) }), null);
  assert.equal(causeOf({ newest: null }), null);
});
