import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { moveClockOf } from "../../../test/support/moved-clock.ts";
import { completed } from "../../../test/support/store-inputs.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { CompletedAttempt } from "../queue.ts";
import { newDeliveryId, newEndpointId, newEventId } from "../../shared/id.ts";
import { distinctSets, HeaderSets, unpacked } from "./header-sets.ts";

it("stores a set once for each tenant that uses it, since its id follows from its text alone", () => {
  const stored = ["acme", "globex", "acme"].map((name) => ({
    set: { tenantId: tenant(name), id: "one", text: "{}" },
    values: null,
    requestHeaders: null,
    responseHeaders: null,
  }));
  const bare = { set: null, values: null, requestHeaders: "{}", responseHeaders: null };
  assert.deepEqual(
    distinctSets([...stored, bare]).map(({ tenantId, id }) => [tenantId, id]),
    [
      ["acme", "one"],
      ["globex", "one"],
    ],
  );
});

it("keeps an answer's headers in their row where they are longer than any set should be", () => {
  const ids = { endpointId: newEndpointId(), eventId: newEventId(), leasedId: newDeliveryId() };
  const rows = { tenantId: tenant("acme"), ...ids };
  const pack = (server: string) =>
    new HeaderSets().pack({
      ...completed(rows),
      requestHeaders: { "user-agent": "postern" },
      responseHeaders: { server },
    });
  assert.equal(pack("short").responseHeaders, null);
  const long = { server: "x".repeat(3000) };
  const { set, responseHeaders } = pack(long.server);
  assert.deepEqual(JSON.parse(responseHeaders ?? ""), long);
  assert.ok(set !== null && !set.text.includes("xxx"));
});

const NOTHING = { set: null, values: null, requestHeaders: null, responseHeaders: null };

function attempt(
  given: Partial<Pick<CompletedAttempt, "requestHeaders" | "responseHeaders">>,
  endpointId = newEndpointId(),
) {
  const ids = { endpointId, eventId: newEventId(), leasedId: newDeliveryId() };
  return { ...completed({ tenantId: tenant("acme"), ...ids }), ...given };
}

/** An answer with a header that no other has, so that it needs a set of its own. */
const answer = (n: number) => ({
  requestHeaders: { "user-agent": "postern" },
  responseHeaders: { [`x-${n}`]: "a" },
});

describe("an attempt's headers", () => {
  it("are in a set whose id is the hash of its text, in whatever process", () => {
    const { set } = new HeaderSets().pack(attempt(answer(1)));
    assert.ok(set !== null);
    const hex = createHash("sha256").update(set.text).digest("hex").slice(0, 32);
    assert.equal(set.id, hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"));
    assert.equal(set.tenantId, "acme");
    assert.ok(set.text.includes("x-1"));
  });

  it("are none where nothing was sent, and the request's alone where nothing came back", () => {
    const sets = new HeaderSets();
    assert.deepEqual(sets.pack(attempt({ requestHeaders: {}, responseHeaders: null })), NOTHING);
    const sent = sets.pack(attempt({ ...answer(1), responseHeaders: null }));
    assert.ok(sent.set?.text.includes("user-agent"));
    const answered = sets.pack(attempt({ requestHeaders: {}, responseHeaders: { server: "a" } }));
    assert.ok(answered.set?.text.includes("server"));
  });

  it("need the same set again for the same names, and another one where they differ", () => {
    const sets = new HeaderSets();
    const endpointId = newEndpointId();
    const [first, again, other, back] = [1, 1, 2, 1].map((n) => sets.pack(attempt(answer(n), endpointId)));
    assert.ok(first?.set && again && other?.set && back);
    assert.deepEqual([again, back], [first, first]);
    assert.notEqual(other.set.id, first.set.id);
    assert.ok(other.set.text.includes("x-2"));
  });

  it("have 16 sets a day for the answers of an endpoint, and what is beyond is in the row", (test) => {
    const moveClock = moveClockOf(test);
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const sets = new HeaderSets();
    const endpointId = newEndpointId();
    const inRow = (n: number, at = endpointId) => sets.pack(attempt(answer(n), at)).responseHeaders;
    for (let n = 1; n <= 16; n++) assert.equal(inRow(n), null);
    assert.equal(inRow(17), '{"x-17":"a"}');
    assert.equal(inRow(3), null, "one that it has");
    assert.equal(inRow(17, newEndpointId()), null, "another endpoint");
    const unanswered = sets.pack(attempt({ ...answer(17), responseHeaders: null }, endpointId));
    assert.deepEqual([unanswered.responseHeaders, unanswered.set === null], [null, false]);
    moveClock(86_400_000);
    test.mock.timers.tick(1);
    assert.equal(inRow(18), '{"x-18":"a"}');
    moveClock(1);
    test.mock.timers.tick(1);
    assert.equal(inRow(18), null);
  });

  it("are in the set up to 2048 characters of an answer's part", () => {
    const inRow = (length: number) => {
      const responseHeaders = { ["x".repeat(length)]: "a" };
      return new HeaderSets().pack(attempt({ ...answer(0), responseHeaders })).responseHeaders;
    };
    const { set } = new HeaderSets().pack(attempt({ requestHeaders: {}, responseHeaders: { x: "a" } }));
    const { response } = JSON.parse(set?.text ?? "");
    const around = JSON.stringify(response).length - 1;
    assert.equal(inRow(2048 - around), null);
    assert.notEqual(inRow(2049 - around), null);
  });

  it("are as they are in a row without a set", () => {
    const headers = { requestHeaders: { a: "b" }, responseHeaders: { c: "d" } };
    assert.deepEqual(unpacked(attempt(headers)), {
      ...NOTHING,
      requestHeaders: '{"a":"b"}',
      responseHeaders: '{"c":"d"}',
    });
    assert.equal(unpacked(attempt({ ...headers, responseHeaders: null })).responseHeaders, null);
  });
});
