import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseTenantId, type TenantId } from "../shared/id.ts";
import { isMisrouted, requireHere, residentsOf, type Residence } from "./residence.ts";

function tenant(text: string): TenantId {
  const tenantId = parseTenantId(text);
  assert.ok(tenantId !== null);
  return tenantId;
}
const ACME = tenant("acme");
const NULL = tenant("null");
const AWAY = tenant("away");
const HERE: Residence = {
  versionOf: (tenantId) =>
    new Map([
      [ACME, 3],
      [NULL, 0],
    ]).get(tenantId) ?? null,
};

describe("whether tenants live in a database", () => {
  it("is asked with the version of each, in its order", () => {
    assert.deepEqual(residentsOf(HERE, [NULL, ACME]), { tenantIds: [NULL, ACME], versions: [0, 3] });
  });

  it("is asked as SQL, a tenant named null among them", () => {
    assert.equal(requireHere(HERE, [ACME, NULL]), `SELECT postern.require_here('{"acme","null"}', '{3,0}')`);
  });

  it("is not asked for one that this process does not know here: a misrouting, as the database says it", () => {
    for (const ask of [residentsOf, requireHere]) {
      assert.throws(
        () => ask(HERE, [ACME, AWAY]),
        (error: unknown) => isMisrouted(error) && error instanceof Error && error.name === "MisroutedError",
      );
    }
    assert.equal(isMisrouted(Object.assign(new Error("from the database"), { code: "PS001" })), true);
    assert.equal(isMisrouted(Object.assign(new Error("another"), { code: "PS002" })), false);
    assert.equal(isMisrouted(new Error("PS001")), false);
  });
});
