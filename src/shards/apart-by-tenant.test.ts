import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import { isMisrouted } from "../database/residence.ts";
import { checkEvents } from "../events/checked-events.ts";
import { openCatalog } from "../events/live-catalog.ts";
import type { Taken, TakenEvents } from "../events/taken-events.ts";
import { apartByTenant } from "./apart-by-tenant.ts";

const catalog = (await openCatalog(undefined)).current();
const eventOf = (name: string) =>
  checkEvents([{ type: "invoice.paid", data: {} }], tenant(name), catalog)[0] ?? assert.fail();

const refused = (code: string) => Object.assign(new Error("the database refuses it"), { code });
const misrouted = () => refused("PS001");
const broken = () => refused("22P05");
const away = () => refused("ECONNREFUSED");

/** One that has been asked for, and is answered by the test. */
type Try = PromiseWithResolvers<Taken> & { what: string };

let tries: Try[];
let taken: TakenEvents;
beforeEach(() => {
  tries = [];
  taken = apartByTenant({
    accept: ({ tenantId }, how) => {
      const one = { ...Promise.withResolvers<Taken>(), what: `${tenantId} ${how}` };
      tries.push(one);
      return one.promise;
    },
  });
});

/** Answers what is asked for next. */
async function answer(what: string, how: "accepted" | Error): Promise<void> {
  await new Promise(setImmediate);
  const one = tries.shift();
  assert.equal(one?.what, what);
  if (how instanceof Error) one?.reject(how);
  else one?.resolve(how);
}

async function requireNoTry(): Promise<void> {
  await new Promise(setImmediate);
  assert.deepEqual(tries, []);
}

describe("an event", () => {
  it("is tried once while its group is accepted, or its database is away", async () => {
    const first = taken.accept(eventOf("acme"), "grouped");
    await answer("acme grouped", "accepted");
    assert.equal(await first, "accepted");
    const second = taken.accept(eventOf("acme"), "grouped");
    const failed = assert.rejects(second, { code: "ECONNREFUSED" });
    await answer("acme grouped", away());
    await requireNoTry();
    await failed;
  });

  it("is tried alone where its group failed by an event or by a tenant, and alone at once where that is asked", async () => {
    for (const error of [broken(), misrouted()]) {
      const one = taken.accept(eventOf("acme"), "grouped");
      await answer("acme grouped", error);
      await answer("acme alone", "accepted");
      assert.equal(await one, "accepted");
    }
    const one = taken.accept(eventOf("acme"), "alone");
    await answer("acme alone", "accepted");
    assert.equal(await one, "accepted");
  });

  it("waits for an earlier one of its tenant that is tried alone, and for none of another's", async () => {
    const results = Promise.allSettled(
      ["acme", "acme", "acme", "globex"].map((name) => taken.accept(eventOf(name), "alone")),
    );
    await new Promise(setImmediate);
    assert.equal(tries.length, 2);
    await answer("acme alone", broken());
    await answer("globex alone", "accepted");
    // Neither says anything about the next event.
    await answer("acme alone", away());
    await answer("acme alone", "accepted");
    const statuses = (await results).map(({ status }) => status);
    assert.deepEqual(statuses, ["rejected", "rejected", "fulfilled", "fulfilled"]);
  });

  it("is refused with those that wait for it where its tenant is, and the next is tried", async () => {
    const results = Promise.allSettled([1, 2, 3].map(() => taken.accept(eventOf("acme"), "alone")));
    await answer("acme alone", misrouted());
    for (const one of await results)
      assert.ok(one.status === "rejected" && isMisrouted(one.reason), one.status);
    await requireNoTry();
    const next = taken.accept(eventOf("acme"), "alone");
    await answer("acme alone", "accepted");
    assert.equal(await next, "accepted");
  });
});
