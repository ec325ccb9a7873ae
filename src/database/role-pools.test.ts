import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sharesOf } from "./role-pools.ts";

const api = { servesApi: true, works: false, relays: false };
const worker = { servesApi: false, works: true, relays: false };

describe("the connections of a process", () => {
  it("are shared out by what it does", () => {
    assert.deepEqual(sharesOf(20, api), { worker: 1, publisher: 9, tenants: 10 });
    assert.deepEqual(sharesOf(20, { ...api, works: true }), { worker: 10, publisher: 5, tenants: 5 });
    assert.deepEqual(sharesOf(20, worker), { worker: 19, publisher: 1, tenants: 1 });
    assert.deepEqual(sharesOf(20, { ...worker, relays: true }), { worker: 14, publisher: 5, tenants: 1 });
  });

  it("are never more than its pool's size, from the least that gives each one", () => {
    for (let size = 3; size <= 100; size++) {
      const { worker: own, publisher, tenants } = sharesOf(size, { ...worker, relays: true });
      assert.equal(own + publisher + tenants, size);
    }
  });
});
