import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { makeDirectoryBucket } from "../bytes/directory-bucket.ts";
import { makeLinkSigner } from "../bytes/file-links.ts";
import type { HeadAnswer } from "../rules/ports.ts";
import type { ReconcileObjectsInput } from "../rules/reconcile-types.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { showHiddenVersions, withhold } from "./prepare-page.ts";

const NOW = "2026-03-01T12:00:00.000Z";
const BEFORE = "2026-02-28T12:00:00.000Z";

function row(key: string, more: Partial<StoredObject> = {}): StoredObject {
  return {
    id: key,
    tenant_id: "t",
    delivery_id: "d",
    attempt: 1,
    kind: "request_body",
    bucket: "artifacts",
    key,
    version_id: `v-${key}`,
    size: 7,
    etag: `e-${key}`,
    sha256: "a".repeat(64),
    content_type: "application/json",
    state: "expired",
    state_since: BEFORE,
    available_at: BEFORE,
    deadline: BEFORE,
    hold: false,
    revision: 3,
    ...more,
  };
}

function page(more: Partial<ReconcileObjectsInput>): ReconcileObjectsInput {
  return {
    run: { run_id: "run", next_sequence: 1, batch_size: 10, max_destructive: 5 },
    now: NOW,
    bucket: "artifacts",
    after: null,
    rows: [],
    rows_truncated: false,
    objects: [],
    objects_truncated: false,
    marks: [],
    ...more,
  };
}

const hidden = (key: string) => ({ key, size: 7, etag: `e-${key}`, last_modified: BEFORE });
const mark = (key: string, first_seen_at: string, more = {}) =>
  ({ key, class: "object_without_row", first_seen_at, run_id: "run", ...more }) as const;
const listed = (key: string) => ({ key, size: 1, etag: "e", last_modified: BEFORE });

/** A store that has these, is away for those that are asked of as "away", and writes down what it is asked. */
function storeOf(asked: unknown[], has: readonly string[]): Bucket {
  const folder = makeDirectoryBucket({
    root: "/nowhere",
    signer: makeLinkSigner([Buffer.alloc(32)]),
    endpoint: () => ({ scheme: "https", host: "postern.example", path_prefix: "" }),
  });
  return {
    ...folder,
    async head(request): Promise<HeadAnswer> {
      asked.push(request);
      const { key } = request;
      if (key === "away") throw new StoreUnavailableError("away");
      if (key === "faulty") throw new TypeError("faulty");
      if (!has.includes(key)) return { found: false };
      return {
        found: true,
        size: 7,
        etag: "e",
        version_id: "v",
        sha256: null,
        content_type: "text/plain",
        last_modified: NOW,
      };
    },
  };
}

describe("versions that a listing hides", () => {
  it("are shown in their places, where an expired row's version is there or may be", async () => {
    const asked: unknown[] = [];
    const bucket = storeOf(asked, ["b", "beyond", "live", "shown"]);
    const rows = [
      row("a"),
      row("away"),
      row("b"),
      row("live", { state: "available" }),
      row("shown"),
      row("z"),
    ];
    const input = page({ rows, objects: [listed("aa"), listed("shown")] });
    await showHiddenVersions(bucket, input, null);
    assert.deepEqual(input.objects, [listed("aa"), hidden("away"), hidden("b"), listed("shown")]);
    assert.deepEqual(
      asked,
      ["a", "away", "b", "z"].map((key) => ({ bucket: "artifacts", key, version_id: `v-${key}` })),
    );
  });

  it("are those up to the end of what is judged, with it", async () => {
    const asked: unknown[] = [];
    const input = page({ rows: [row("a"), row("b"), row("c")] });
    await showHiddenVersions(storeOf(asked, ["a", "b", "c"]), input, "b");
    assert.deepEqual(
      input.objects.map(({ key }) => key),
      ["a", "b"],
    );
    assert.equal(asked.length, 2);
  });

  it("are not made up of another error", async () => {
    const faulty = showHiddenVersions(storeOf([], []), page({ rows: [row("faulty")] }), null);
    await assert.rejects(faulty, TypeError);
  });
});

describe("what a page leaves alone, as if it were touched just now,", () => {
  it("is what expired and is held", () => {
    const rows = [row("a", { hold: true }), row("b"), row("c", { hold: true, state: "available" })];
    const input = page({ rows });
    withhold(input, new Set());
    assert.deepEqual(
      input.rows.map(({ state_since }) => state_since),
      [NOW, BEFORE, BEFORE],
    );
  });

  it("is an object whose suspicion may be confirmed, and that no look for its row has cleared", () => {
    const twoHoursAgo = "2026-03-01T10:00:00.000Z";
    const keys = ["a", "b", "c", "d", "e"];
    const input = page({
      objects: keys.map(listed),
      marks: [
        mark("a", twoHoursAgo),
        mark("b", twoHoursAgo),
        mark("c", "2026-03-01T10:00:00.001Z"),
        mark("d", twoHoursAgo, { class: "identity_mismatch" }),
      ],
    });
    withhold(input, new Set(["b", "e"]));
    assert.deepEqual(
      input.objects.map(({ last_modified }) => last_modified),
      [NOW, BEFORE, BEFORE, BEFORE, BEFORE],
    );
  });
});
