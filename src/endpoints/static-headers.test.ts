import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import { newEndpointId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeSecretBox, SecretBoxError } from "../shared/secret-box.ts";
import {
  changeHeaders,
  NO_HEADERS,
  openHeaders,
  resealHeaders,
  type StoredHeaders,
} from "./static-headers.ts";

const KEY = randomBytes(32);
const MASKED = "[masked]";
const HEADERS = { "X-Team": "billing", Authorization: "Bearer 1", "X-Api-Key": "key" };

const box = makeSecretBox([KEY]);
const owner = { tenantId: tenant("acme"), endpointId: newEndpointId() };
const stored = changeHeaders(box, owner, NO_HEADERS, { headers: HEADERS, masked_headers: ["x-api-KEY"] });

/** Where a value is missing. */
function missing(former: StoredHeaders, change: Parameters<typeof changeHeaders>[3]) {
  try {
    changeHeaders(box, owner, former, change);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    assert.equal(error.code, "validation_failed");
    return error.issues;
  }
  return [];
}

const wants = (name: string) => ({
  path: ["headers", name],
  message: "has no value that could stay: give it",
  code: "masked",
});

describe("stored headers", () => {
  it("show the value of none that is masked, and open to all of them", () => {
    const { sealedHeaders, ...shown } = stored;
    assert.deepEqual(shown, {
      headers: { "X-Team": "billing", Authorization: MASKED, "X-Api-Key": MASKED },
      maskedHeaders: ["x-api-KEY"],
    });
    assert.ok(sealedHeaders !== null);
    assert.deepEqual(openHeaders(box, stored, owner), HEADERS);
  });

  it("are not sealed where none is masked", () => {
    const plain = changeHeaders(box, owner, NO_HEADERS, { headers: { "X-Team": "billing" } });
    assert.deepEqual(plain, { headers: { "X-Team": "billing" }, maskedHeaders: [], sealedHeaders: null });
    assert.deepEqual(openHeaders(box, plain, owner), { "X-Team": "billing" });
    // As all masked headers go, their values do.
    assert.deepEqual(changeHeaders(box, owner, stored, { headers: {}, masked_headers: [] }), NO_HEADERS);
  });

  it("stay as they are where a change has none", () => {
    const same = changeHeaders(box, owner, stored, {});
    assert.deepEqual({ ...same, sealedHeaders: stored.sealedHeaders }, stored);
    assert.deepEqual(openHeaders(box, same, owner), HEADERS);
  });

  it("open for their endpoint alone, and their seal is no signing secret's", () => {
    for (const other of [
      { ...owner, endpointId: newEndpointId() },
      { ...owner, tenantId: tenant("globex") },
    ])
      assert.throws(() => openHeaders(box, stored, other), SecretBoxError);
    const { sealedHeaders } = stored;
    assert.ok(sealedHeaders !== null);
    const { tenantId, endpointId } = owner;
    assert.throws(() => box.open(sealedHeaders, ["signing-secret", tenantId, endpointId]), SecretBoxError);
    assert.equal(
      box.open(sealedHeaders, ["static-headers", tenantId, endpointId]),
      '{"authorization":"Bearer 1","x-api-key":"key"}',
    );
  });

  it("show as masked a value that the sealed ones do not have", () => {
    const more = { ...stored, headers: { ...stored.headers, "X-Lost": MASKED } };
    assert.deepEqual(openHeaders(box, more, owner), { ...HEADERS, "X-Lost": MASKED });
  });
});

describe("a change of headers", () => {
  it("keeps a value that is sent back masked, in any case of the name, beside new ones", () => {
    const headers = { AUTHORIZATION: MASKED, "x-api-key": "new", "X-Team": "sales" };
    const changed = changeHeaders(box, owner, stored, { headers });
    assert.deepEqual(changed.headers, { ...headers, "x-api-key": MASKED });
    assert.deepEqual(openHeaders(box, changed, owner), { ...headers, AUTHORIZATION: "Bearer 1" });
  });

  it("keeps the list of masked names unless it has another", () => {
    assert.deepEqual(changeHeaders(box, owner, stored, { headers: {} }).maskedHeaders, ["x-api-KEY"]);
    const longer = changeHeaders(box, owner, stored, { masked_headers: ["X-Api-Key", "X-Team"] });
    assert.deepEqual(longer.headers, { "X-Team": MASKED, Authorization: MASKED, "X-Api-Key": MASKED });
    assert.deepEqual(openHeaders(box, longer, owner), HEADERS);
  });

  it("needs a value where none is kept, or where the kept one would be shown", () => {
    const masked = { "X-Team": MASKED, "X-Api-Key": MASKED };
    assert.deepEqual(missing(NO_HEADERS, { headers: masked, masked_headers: ["x-team"] }), [
      wants("X-Team"),
      wants("X-Api-Key"),
    ]);
    assert.deepEqual(missing(NO_HEADERS, { headers: { Authorization: MASKED } }), [wants("Authorization")]);
    assert.deepEqual(missing(stored, { headers: { "X-New": MASKED }, masked_headers: ["x-new"] }), [
      wants("X-New"),
    ]);
    // No longer masked: its value is nobody's to see.
    assert.deepEqual(missing(stored, { masked_headers: [] }), [wants("X-Api-Key")]);
    assert.deepEqual(missing(stored, { headers: masked, masked_headers: [] }), [
      wants("X-Team"),
      wants("X-Api-Key"),
    ]);
    // Given as a masked header's value, the mask would be sent.
    assert.deepEqual(missing(stored, { headers: { "X-Team": MASKED } }), [wants("X-Team")]);
  });

  it("opens former values only to keep one, so that headers which do not open can be given anew", () => {
    const spoilt = { ...stored, sealedHeaders: Buffer.from("spoilt") };
    const again = changeHeaders(box, owner, spoilt, { headers: HEADERS });
    assert.deepEqual(openHeaders(box, again, owner), HEADERS);
    assert.throws(
      () => changeHeaders(box, owner, spoilt, { headers: { Authorization: MASKED } }),
      SecretBoxError,
    );
  });
});

it("headers sealed anew are under the first key, with the same values", () => {
  const newKey = randomBytes(32);
  const { sealedHeaders } = stored;
  assert.ok(sealedHeaders !== null);
  const resealed = resealHeaders(makeSecretBox([newKey, KEY]), sealedHeaders, owner);
  const onlyNew = makeSecretBox([newKey]);
  assert.deepEqual(openHeaders(onlyNew, { ...stored, sealedHeaders: resealed }, owner), HEADERS);
});
