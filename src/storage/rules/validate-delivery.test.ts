import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HeadAnswer } from "./ports.ts";
import type { StoredObject } from "./stored-object.ts";
import {
  probeName,
  REQUIRED_PROBES,
  validateDelivery,
  type ValidateDeliveryInput,
} from "./validate-delivery.ts";

const TENANT = "0a1b2c3d-0000-4000-8000-00000000000a";
const DELIVERY = "0a1b2c3d-0000-4000-8000-00000000000d";
const OTHER = "0a1b2c3d-0000-4000-8000-00000000000e";
const NOW = "2026-03-01T12:00:00.000Z";

const OBJECT: StoredObject = {
  id: "0a1b2c3d-0000-4000-8000-000000000001",
  tenant_id: TENANT,
  delivery_id: DELIVERY,
  attempt: 2,
  kind: "request_body",
  bucket: "artifacts",
  key: `v1/t/${TENANT}/d/${DELIVERY}/a/2/request_body.json`,
  version_id: "v",
  size: 7,
  etag: "e",
  sha256: "a".repeat(64),
  content_type: "application/json",
  state: "pending",
  state_since: NOW,
  available_at: null,
  deadline: null,
  hold: false,
  revision: 2,
};
const HEAD = {
  found: true,
  size: 7,
  etag: "e",
  version_id: "v",
  sha256: OBJECT.sha256,
  content_type: "application/json",
  last_modified: NOW,
} as const;
const PROBES = probeName.options.map((probe) => ({ probe, status: REQUIRED_PROBES[probe] }));

async function judge(
  {
    object = {},
    delivery = {},
    ...more
  }: {
    object?: Partial<StoredObject>;
    delivery?: Partial<ValidateDeliveryInput["delivery"]>;
  } & Partial<Omit<ValidateDeliveryInput, "object" | "delivery">>,
  head: HeadAnswer = HEAD,
) {
  const asked: unknown[] = [];
  const input: ValidateDeliveryInput = {
    delivery: { id: DELIVERY, tenant_id: TENANT, latest_attempt: 2, ...delivery },
    object: { ...OBJECT, ...object },
    archive_code: null,
    probes: PROBES,
    now: NOW,
    ...more,
  };
  const storage = {
    head: async (request: unknown) => {
      asked.push(request);
      return head;
    },
  };
  return { ...(await validateDelivery(input, { storage })), asked };
}

describe("an artifact", () => {
  it("is opened once all is right, by two changes of the one revision", async () => {
    const { output, mutations, asked } = await judge({});
    assert.deepEqual(output, { code: "DELIVERABLE", failed: [] });
    const of = { op: "update", target: "row", id: OBJECT.id, revision: 2 };
    assert.deepEqual(mutations, [
      { ...of, field: "state", from: "pending", to: "available" },
      { ...of, field: "available_at", from: null, to: NOW },
    ]);
    assert.deepEqual(asked, [{ bucket: "artifacts", key: OBJECT.key, version_id: "v" }]);
    // Which the second change finds out: one that was open before must not begin its days anew.
    const again = await judge({ object: { available_at: "2026-02-01T00:00:00.000Z" } });
    assert.deepEqual(again.mutations, mutations);
  });

  const early: [name: string, change: Parameters<typeof judge>[0], code: string][] = [
    ["of an attempt that is not the last", { delivery: { latest_attempt: 3 } }, "SUPERSEDED"],
    ["that is open already", { object: { state: "available" } }, "SUPERSEDED"],
    ["whose key is none", { object: { key: "planted" } }, "KEY_MISMATCH"],
    ["whose key is another tenant's", { object: { key: OBJECT.key.replace(TENANT, OTHER) } }, "KEY_MISMATCH"],
    [
      "whose key is another delivery's",
      { object: { key: OBJECT.key.replace(DELIVERY, OTHER) } },
      "KEY_MISMATCH",
    ],
    ["whose key is another attempt's", { object: { key: OBJECT.key.replace("a/2", "a/1") } }, "KEY_MISMATCH"],
    [
      "whose key is of another kind",
      { object: { key: OBJECT.key.replace("request_body.json", "export.zip") } },
      "KEY_MISMATCH",
    ],
    ["of another delivery", { delivery: { id: OTHER } }, "KEY_MISMATCH"],
    ["of a delivery of another tenant", { delivery: { tenant_id: OTHER } }, "KEY_MISMATCH"],
    [
      "that is an archive and was not found valid",
      { object: { kind: "export", key: OBJECT.key.replace("request_body.json", "export.zip") } },
      "ARCHIVE_INVALID",
    ],
  ];
  for (const [name, change, code] of early) {
    it(`is not opened ${name}, and the store is not asked`, async () => {
      const { output, mutations, asked } = await judge(change);
      assert.deepEqual([output, mutations, asked], [{ code, failed: [] }, [], []]);
    });
  }

  it("is opened as an archive that was found valid", async () => {
    const object = { kind: "export", key: OBJECT.key.replace("request_body.json", "export.zip") } as const;
    const { output } = await judge({ object, archive_code: "VALID" });
    assert.equal(output.code, "DELIVERABLE");
    assert.equal((await judge({ object, archive_code: "LAYOUT" })).output.code, "ARCHIVE_INVALID");
  });

  it("is not opened whose bytes are not there, or not the row's", async () => {
    const heads: HeadAnswer[] = [
      { found: false },
      { ...HEAD, size: 8 },
      { ...HEAD, etag: "f" },
      { ...HEAD, version_id: "w" },
      { ...HEAD, sha256: "b".repeat(64) },
      { ...HEAD, sha256: null },
      { ...HEAD, content_type: "text/plain" },
    ];
    for (const head of heads) {
      const { output, mutations } = await judge({}, head);
      assert.deepEqual([output, mutations], [{ code: "OBJECT_MISMATCH", failed: [] }, []]);
    }
  });

  it("is not opened before each link was tried once", async () => {
    const [first, second, ...rest] = PROBES;
    assert.ok(first !== undefined && second !== undefined);
    const { output } = await judge({ probes: [second, second, ...rest] });
    assert.deepEqual(output, { code: "PROBE_UNIVERSE", failed: [first.probe, second.probe].toSorted() });
    assert.deepEqual((await judge({ probes: [] })).output.failed, probeName.options.toSorted());
  });

  it("is not opened whose links are answered as they must not be, each named", async () => {
    for (const { probe } of PROBES) {
      const probes = PROBES.map((one) => (one.probe === probe ? { probe, status: 299 } : one));
      assert.deepEqual((await judge({ probes })).output, { code: "PROBE_FAILED", failed: [probe] });
    }
  });
});
