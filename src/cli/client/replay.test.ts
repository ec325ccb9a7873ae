import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { callsOf, sessionsOf, startPretendedApi, userOf } from "../../../test/support/pretended-api.ts";
import { newDeliveryId, newEndpointId } from "../../shared/id.ts";

const AT = "2026-01-31T00:00:00.000Z";
const [ID, ENDPOINT] = [newDeliveryId(), newEndpointId()];

let api: Awaited<ReturnType<typeof startPretendedApi>>;
before(async () => {
  api = await startPretendedApi();
});
after(() => api.close());

describe("postern replay", () => {
  const replay = {
    id: ID,
    endpoint_id: ENDPOINT,
    from: AT,
    to: AT,
    select: "failed",
    event_type: null,
    cause: null,
    status: "running",
    error: null,
    total: 5,
    is_capped: false,
    sent: 4,
    delivered: 2,
    failed: 1,
    skipped: 3,
    created_at: AT,
    finished_at: null,
  };
  const command = [
    "replay",
    "--tenant",
    "acme",
    "--endpoint",
    ENDPOINT,
    "--from",
    "2026-01-31",
    "--to",
    "2026-02-01",
  ];
  const body = {
    endpoint_id: ENDPOINT,
    from: AT,
    to: "2026-02-01T00:00:00.000Z",
    select: "failed",
    dry_run: false,
  };

  it("asks, tells how far it is, and how it ended", async () => {
    const finished = { ...replay, status: "finished", is_capped: true, delivered: 4, finished_at: AT };
    const ran = await api.run(command, [
      { json: { replay } },
      { json: { replay } },
      { json: { replay: finished } },
    ]);
    assert.deepEqual(callsOf(ran.asked), [
      "POST /api/replays",
      `GET /api/replays/${ID}`,
      `GET /api/replays/${ID}`,
    ]);
    assert.deepEqual(ran.asked[0]?.json, body);
    assert.deepEqual(
      sessionsOf(ran.asked),
      [0, 1, 2].map(() => userOf("owner")),
    );
    assert.deepEqual(
      [ran.code, ran.printed, ran.errors],
      [
        0,
        `replay ${ID} finished: 4 sent, 4 delivered, 1 failed, 3 skipped\n`,
        "running: 3 of 5 events\nfinished: 5 of 5 or more events\n",
      ],
    );
  });

  it("exits with 1 where it failed, with why, and as JSON shows no progress", async () => {
    const failed = { ...replay, status: "failed", error: "endpoint_deleted", finished_at: AT };
    const answers = [{ json: { replay } }, { json: { replay: failed } }];
    const ran = await api.run(command, answers);
    assert.deepEqual(
      [ran.code, ran.printed],
      [1, `replay ${ID} failed (endpoint_deleted): 4 sent, 2 delivered, 1 failed, 3 skipped\n`],
    );
    const canceled = { ...replay, status: "canceled", finished_at: AT };
    assert.equal((await api.run(command, [{ json: { replay } }, { json: { replay: canceled } }])).code, 1);
    const asJson = await api.run(
      [...command, "--json", "--type", "invoice.*", "--cause", "timeout", "--select", "all"],
      answers,
    );
    assert.deepEqual([asJson.code, JSON.parse(asJson.printed), asJson.errors], [1, failed, ""]);
    assert.deepEqual(asJson.asked[0]?.json, {
      ...body,
      event_type: "invoice.*",
      cause: "timeout",
      select: "all",
    });
  });

  it("names the replay that goes on where it can't wait for it any more", async () => {
    const away = { status: 503, json: { error: "Service unavailable" } };
    const ran = await api.run(command, [{ json: { replay } }, { json: { replay } }, away]);
    assert.deepEqual(
      [ran.code, ran.printed, ran.errors],
      [
        1,
        '{"error":"Service unavailable"}\n',
        `running: 3 of 5 events\nreplay ${ID} goes on without this command\n`,
      ],
    );
    const gone = await api.run(command, [
      { json: { replay } },
      { status: 404, json: { error: "Not found" } },
    ]);
    assert.deepEqual([gone.code, gone.errors], [1, ""]);
  });

  it("names the option whose time it does not understand, before it asks", async () => {
    for (const option of ["--from", "--to"]) {
      const words = command.map((word, place) => (command[place - 1] === option ? "soon" : word));
      const ran = await api.run(words, []);
      assert.deepEqual([ran.code, ran.asked], [1, []]);
      assert.match(ran.errors, new RegExp(`${option} soon is not a time such as`));
    }
  });

  it("as a dry run counts by cause, the most first, and sends nothing", async () => {
    const counted = {
      count: 9,
      is_capped: false,
      oldest: AT,
      newest: "2026-01-31T12:00:00.000Z",
      by_cause: { timeout: 2, http_500: 6, refused: 1 },
    };
    const ran = await api.run([...command, "--dry-run"], [{ json: counted }]);
    assert.deepEqual(
      ran.asked.map(({ json }) => json),
      [{ ...body, dry_run: true }],
    );
    assert.deepEqual(
      [ran.code, ran.printed],
      [
        0,
        `9 events, accepted from ${AT} to 2026-01-31T12:00:00.000Z\n  http_500: 6\n  timeout: 2\n  refused: 1\n`,
      ],
    );
    const capped = await api.run(
      [...command, "--dry-run"],
      [{ json: { ...counted, is_capped: true, by_cause: {} } }],
    );
    assert.equal(capped.printed, `9 or more events, accepted from ${AT} to 2026-01-31T12:00:00.000Z\n`);
    const none = { count: 0, oldest: null, newest: null, by_cause: {} };
    for (const [is_capped, words] of [
      [true, /^no event among the first that were examined: choose a shorter time/],
      [false, /^no event: an event with an attempt still to come is not counted/],
    ] as const) {
      assert.match(
        (await api.run([...command, "--dry-run"], [{ json: { ...none, is_capped } }])).printed,
        words,
      );
    }
    const asJson = await api.run([...command, "--dry-run", "--json"], [{ json: counted }]);
    assert.deepEqual(JSON.parse(asJson.printed), counted);
  });
});
