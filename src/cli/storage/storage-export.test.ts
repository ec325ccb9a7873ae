import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../../../test/support/free-port.ts";
import { callsOf, sessionsOf, startPretendedApi, userOf } from "../../../test/support/pretended-api.ts";
import { listen } from "../../../test/support/tls-receiver.ts";
import { newDeliveryId, newEndpointId } from "../../shared/id.ts";

const AT = "2026-01-31T00:00:00.000Z";
const [ID, ENDPOINT] = [newDeliveryId(), newEndpointId()];

let api: Awaited<ReturnType<typeof startPretendedApi>>;
before(async () => {
  api = await startPretendedApi();
});
after(() => api.close());

describe("postern storage export", () => {
  const found = {
    id: ID,
    status: "ready",
    from: AT,
    to: AT,
    endpoint_id: null,
    event_type: null,
    delivery_status: null,
    formats: ["csv"],
    progress: { rows_done: 7, rows_total: 7, bytes: 99 },
    object_id: ENDPOINT,
    error: null,
    created_at: AT,
    updated_at: AT,
  };
  const command = ["storage", "export", "--tenant", "acme", "--from", "2026-01-31", "--to", "2026-01-31"];

  it("asks for what was named, tells how far it is, and where the archive is", async () => {
    const progress = { rows_done: 0, rows_total: null, bytes: 0 };
    const options = [
      "--endpoint",
      ENDPOINT,
      "--type",
      "invoice.*",
      "--status",
      "failed",
      "--format",
      "csv, parquet",
    ];
    const queued = { ...found, status: "queued", progress };
    const ran = await api.run(
      [...command, ...options],
      [{ json: { id: ID } }, { json: queued }, { json: found }],
    );
    assert.deepEqual(ran.asked[0]?.json, {
      from: AT,
      to: AT,
      endpoint_id: ENDPOINT,
      event_type: "invoice.*",
      delivery_status: "failed",
      formats: ["csv", "parquet"],
    });
    assert.deepEqual(
      callsOf(ran.asked).slice(1),
      [1, 2].map(() => `GET /api/storage/exports/${ID}`),
    );
    assert.deepEqual(
      [ran.code, ran.printed, ran.errors],
      [0, `7 deliveries in 99 bytes: artifact ${ENDPOINT}\n`, "queued\nready: 7 of 7 deliveries\n"],
    );
  });

  it("tells how many deliveries were deleted before it came to them", async () => {
    const fewer = { ...found, progress: { rows_done: 7, rows_total: 10, bytes: 99 } };
    const ran = await api.run(command, [{ json: { id: ID } }, { json: fewer }]);
    assert.deepEqual(
      [ran.code, ran.printed],
      [
        0,
        `7 deliveries in 99 bytes: artifact ${ENDPOINT}\n3 more were counted, and deleted at the end of their retention before the export came to them\n`,
      ],
    );
  });

  it("exits with 1 where it failed, with why", async () => {
    for (const [status, error, words] of [
      ["failed", "too_large", "too_large"],
      ["expired", null, "expired"],
    ] as const) {
      const failed = { ...found, status, error };
      const ran = await api.run(command, [{ json: { id: ID } }, { json: failed }]);
      assert.deepEqual([ran.code, ran.printed], [1, `The export ${ID} has failed: ${words}\n`]);
      const asJson = await api.run([...command, "--json"], [{ json: { id: ID } }, { json: failed }]);
      assert.deepEqual([asJson.code, JSON.parse(asJson.printed), asJson.errors], [1, failed, ""]);
    }
  });

  it("downloads the archive whole or not at all", async () => {
    const folder = await mkdtemp(join(tmpdir(), "postern-export-"));
    const output = join(folder, "log.zip");
    const files = createServer((request, response) => {
      if (request.url === "/cut")
        response.writeHead(200, { "content-length": "9" }).write("half", () => response.destroy());
      else response.writeHead(request.url === "/gone" ? 404 : 200).end("archive");
    });
    const url = `http://127.0.0.1:${await listen(files)}`;
    const download = (link: string) =>
      api.run(
        [...command, "--output", output],
        [{ json: { id: ID } }, { json: found }, { json: { url: link } }],
      );
    try {
      for (const [link, words] of [
        [`${url}/gone`, /the link answered 404/],
        [`${url}/cut`, /terminated|aborted/],
        [
          `http://127.0.0.1:${await freePort()}/?signature=x`,
          /no answer from http:\/\/127\.0\.0\.1:\d+, where the archive is \(connect ECONNREFUSED/,
        ],
      ] as const) {
        const ran = await download(link);
        assert.deepEqual([ran.code, ran.printed, await readdir(folder)], [1, "", []], link);
        assert.match(ran.errors, words);
        assert.ok(ran.errors.includes(`is ready as artifact ${ENDPOINT}, and could not be downloaded: `));
        assert.ok(!ran.errors.includes("signature"));
      }
      const refused = await api.run(
        [...command, "--output", output],
        [{ json: { id: ID } }, { json: found }, { status: 503, json: { error: "Unavailable" } }],
      );
      assert.deepEqual([refused.code, refused.printed], [1, ""]);
      assert.match(refused.errors, /as artifact \S+, and could not be downloaded: \{"error":"Unavailable"\}/);
      const ran = await download(`${url}/there`);
      assert.deepEqual([ran.code, ran.printed], [0, `7 deliveries in 99 bytes: ${output}\n`]);
      assert.deepEqual([await readdir(folder), await readFile(output, "utf8")], [["log.zip"], "archive"]);
      assert.deepEqual(
        [ran.asked.at(-1)?.call, ran.asked.at(-1)?.json],
        [`POST /api/storage/objects/${ENDPOINT}/download`, { delivery_id: ID }],
      );
      const nowhere = await api.run([...command, "--output", join(folder, "none", "log.zip")], []);
      assert.deepEqual([nowhere.code, nowhere.asked], [1, []]);
      assert.match(nowhere.errors, /--output .+: the folder .+none does not exist, or is not writable/);
      const aFolder = await api.run([...command, "--output", folder], []);
      assert.deepEqual([aFolder.code, aFolder.asked], [1, []]);
      assert.match(aFolder.errors, /--output .+ is a folder: add the archive's name, as in .+log\.zip/);
    } finally {
      files.close();
      await rm(folder, { recursive: true });
    }
  });
});

describe("postern storage library", () => {
  const item = {
    id: ID,
    delivery_id: ID,
    attempt: 1,
    kind: "export",
    filename: "log.zip",
    content_type: "application/zip",
    size: 123,
    sha256: "a".repeat(64),
    status: "ready",
    available_at: AT,
    expires_at: null,
    downloadable: true,
  };

  it("asks for a page, and says how to go on", async () => {
    const command = ["storage", "library", "--tenant", "acme"];
    const ran = await api.run(command, [{ json: { items: [item], next: "n1" } }]);
    assert.deepEqual(callsOf(ran.asked), ["GET /api/storage/library?limit=50"]);
    assert.deepEqual(sessionsOf(ran.asked), [userOf("member")]);
    assert.equal(ran.printed, `${AT}  ready                123  ${ID}  log.zip\nMore: --after n1\n`);
    const options = ["--kind", "export", "--after", "n 1", "--limit", "7", "--json"];
    const last = await api.run([...command, ...options], [{ json: { items: [item], next: null } }]);
    assert.deepEqual(callsOf(last.asked), ["GET /api/storage/library?limit=7&kind=export&after=n+1"]);
    assert.deepEqual(JSON.parse(last.printed), { items: [item], next: null });
    assert.equal((await api.run(command, [{ json: { items: [], next: null } }])).printed, "");
  });
});
