import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { callsOf, sessionsOf, startPretendedApi, userOf } from "../../../test/support/pretended-api.ts";
import { deliveryExample, listedDeliveryExample } from "../../api/examples.ts";

const ID = listedDeliveryExample.id;
const command = ["deliveries", "--tenant", "acme"];

let api: Awaited<ReturnType<typeof startPretendedApi>>;
before(async () => {
  api = await startPretendedApi();
});
after(() => api.close());

/** So many of the same time. */
const listed = (count: number, change: object = {}) =>
  Array.from({ length: count }, () => ({ ...listedDeliveryExample, ...change }));
const page = (deliveries: object[], next: { searched_to: string; before: string } | null = null) => ({
  headers: next === null ? {} : { link: `</base/api/deliveries?limit=9&before=${next.before}>; rel="next"` },
  json: { searched_to: next?.searched_to ?? null, deliveries },
});
/** The queries that were asked for, by parameter. */
const queriesOf = (asked: Parameters<typeof callsOf>[0]) =>
  callsOf(asked).map((call) => Object.fromEntries(new URL(call.split(" ")[1] ?? "", api.url).searchParams));

describe("postern deliveries", () => {
  it("lists deliveries in the order of their first column, with how each ended, when it was sent later, and its id", async () => {
    const failed = listedDeliveryExample;
    const pending = {
      ...failed,
      status: "pending",
      next_attempt_at: "2026-01-31T10:05:00.000Z",
      sent_at: null,
    };
    const lost = { ...failed, response_status: null, error: "timeout", attempt: 10, latency_ms: 15_000 };
    const ended = { ...failed, response_status: null, sent_at: null };
    const retried = { ...failed, attempt: 2, sent_at: "2026-01-31T10:05:00.031Z" };
    const ran = await api.run(command, [page([failed, pending, lost, ended, retried])]);
    assert.deepEqual(callsOf(ran.asked), ["GET /api/deliveries?limit=50"]);
    assert.deepEqual(sessionsOf(ran.asked), [userOf("member")]);
    assert.deepEqual(ran.printed.trimEnd().split("\n"), [
      `2026-01-31T10:00:00.018Z  failed     500 in 87 ms          attempt 1  invoice.paid  ${ID}`,
      `2026-01-31T10:00:00.018Z  pending    due 2026-01-31T10:05:00.000Z  attempt 1  invoice.paid  ${ID}`,
      `2026-01-31T10:00:00.018Z  failed     timeout in 15000 ms   attempt 10  invoice.paid  ${ID}`,
      `2026-01-31T10:00:00.018Z  failed     no answer in 87 ms    attempt 1  invoice.paid  ${ID}`,
      `2026-01-31T10:00:00.018Z  failed     500 in 87 ms, sent 2026-01-31T10:05:00.031Z  attempt 2  invoice.paid  ${ID}`,
    ]);
    assert.deepEqual([ran.code, ran.errors], [0, ""]);
  });

  it("narrows the list as the API does", async () => {
    const options = [
      ["endpoint", "endpoint_id", ID],
      ["status", "status", "failed"],
      ["type", "event_type", "invoice.*"],
      ["event", "event_id", ID],
      ["response", "response_status", "5xx"],
      ["error", "error", "dns"],
      ["text", "q", "inv 1&2"],
    ] as const;
    const words = options.flatMap(([option, , value]) => [`--${option}`, value]);
    const times = ["--from", "2026-01-31", "--to", "2026-02-01T10:00+01:00"];
    const ran = await api.run([...command, ...words, ...times, "--limit", "7"], [page([])]);
    assert.deepEqual(queriesOf(ran.asked), [
      {
        ...Object.fromEntries(options.map(([, parameter, value]) => [parameter, value])),
        from: "2026-01-31T00:00:00.000Z",
        to: "2026-02-01T09:00:00.000Z",
        limit: "7",
      },
    ]);
    assert.equal(ran.printed, "no deliveries\n");
  });

  it("asks on from where the API stopped until it has so many, also where many are of one time", async () => {
    const searched_to = listedDeliveryExample.created_at;
    const later = ID.replace(/.$/, "0");
    const ran = await api.run(
      [...command, "--limit", "150", "--json"],
      [
        page(listed(100), { searched_to, before: ID }),
        page([], { searched_to, before: later }),
        page(listed(50), { searched_to, before: ID }),
      ],
    );
    assert.deepEqual(queriesOf(ran.asked), [
      { limit: "100" },
      { limit: "50", before: ID },
      { limit: "50", before: later },
    ]);
    assert.equal(JSON.parse(ran.printed).length, 150);
    assert.equal(ran.errors, "");
  });

  it("says how far it has searched while it finds nothing", async () => {
    const next = { searched_to: "2026-01-30T00:00:00.000Z", before: ID };
    const ran = await api.run([...command, "--text", "x"], [page([], next), page([])]);
    assert.equal(ran.errors, "searched back to 2026-01-30T00:00:00.000Z\n");
    assert.equal(ran.printed, "no deliveries\n");
  });

  it("lists nothing that steers a terminal", async () => {
    const listed = { ...listedDeliveryExample, event_type: "a\u001b[31m\u202eb\u009bc" };
    const ran = await api.run(command, [page([listed])]);
    assert.match(ran.printed, / {2}a\\u001b\[31m\\u202eb\\u009bc {2}\S+\n$/);
  });

  it("shows one whole, with nothing in it that steers a terminal", async () => {
    const delivery = { ...deliveryExample, response_body: "a\u001b[31m\u202eb\u009bc\n" };
    const ran = await api.run([...command, ID], [{ json: { delivery } }]);
    assert.deepEqual(callsOf(ran.asked), [`GET /api/deliveries/${ID}`]);
    assert.deepEqual(JSON.parse(ran.printed), delivery);
    assert.doesNotMatch(ran.printed, /[[\p{Cc}\p{Cf}]--[\n]]/v);
    const odd = await api.run([...command, "../events"], [{ status: 404, json: { error: "Not found" } }]);
    assert.deepEqual(callsOf(odd.asked), ["GET /api/deliveries/..%2Fevents"]);
    assert.deepEqual([odd.code, odd.printed], [1, '{"error":"Not found"}\n']);
  });

  it("asks nothing where its options make no sense", async () => {
    for (const [words, told] of [
      [
        [ID, "--status", "failed", "--limit", "1"],
        /an id shows one delivery: leave out --status and --limit/,
      ],
      [["--limit", "0"], /--limit 0 is not a number of 1 to 100000/],
      [["--limit", "100001"], /--limit 100001 is not a number of 1 to 100000/],
      [["--from", "yesterday"], /--from yesterday is not a time/],
      // As of a variable of the shell that is not set.
      [[""], /the delivery's id is empty/],
      [["--tenant", "a b"], /a b is no tenant id\.\n.*1 to 64 of A-Z/],
      [["--tenant", ""], /"" is no tenant id/],
      [["--tenant", "*"], /\* is no tenant id/],
    ] as const) {
      const ran = await api.run([...command, ...words], []);
      assert.deepEqual([ran.code, ran.asked, ran.printed], [1, [], ""]);
      assert.match(ran.errors, told);
    }
  });
});
