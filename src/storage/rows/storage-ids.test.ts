import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseTenantId, type TenantId } from "../../shared/id.ts";
import { uuid } from "../rules/values.ts";
import { storageTenantId, storageUserId } from "./storage-ids.ts";

describe("the ids that storage derives", () => {
  const acme = tenant("acme");

  it("stay what they are: every key in every bucket hangs on them", () => {
    assert.equal(storageTenantId(acme), "625751c1-5301-59d5-a848-5097cccc65f1");
    assert.equal(storageUserId(acme, "ada"), "65d33dd8-5b50-5428-83ab-535a8a36af21");
  });

  it("are of the form that keys have", () => {
    assert.ok(uuid.safeParse(storageTenantId(acme)).success);
    assert.ok(uuid.safeParse(storageUserId(acme, "süß 🍰")).success);
  });

  it("differ for tenants that differ by case alone", () => {
    assert.notEqual(storageTenantId(acme), storageTenantId(tenant("Acme")));
  });

  it("differ for people of two tenants with one subject, however the two are cut", () => {
    assert.notEqual(storageUserId(acme, "ada"), storageUserId(tenant("globex"), "ada"));
    assert.notEqual(storageUserId(tenant("a"), 'b","c'), storageUserId(tenant("a"), "b,c"));
  });
});

function tenant(text: string): TenantId {
  const id = parseTenantId(text);
  assert.ok(id !== null);
  return id;
}
