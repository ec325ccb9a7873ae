import assert from "node:assert/strict";
import { it } from "node:test";
import { isForgotten } from "../../test/support/forgotten.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { NewEvent } from "../queue/queue.ts";
import { AcceptingRoom } from "./accepting-room.ts";
import { checkEvents } from "./checked-events.ts";
import { openCatalog } from "./live-catalog.ts";

it("the room for events being accepted forgets a tenant that has nothing in it", async () => {
  const catalog = (await openCatalog(undefined)).current();
  const [event] = checkEvents({ type: "invoice.paid", data: {} }, tenant("acme"), catalog);
  assert.ok(event !== undefined);
  const room = new AcceptingRoom();
  // In place of a tenant's name an object, since nobody sees whether a text is held.
  const eventsOf = (tenantId: object): NewEvent[] => [Object.assign({}, event, { tenantId })];
  const taken: ((() => void) | null)[] = [];
  assert.equal(await isForgotten((key) => room.take(eventsOf(key))?.()), true);
  assert.equal(await isForgotten((key) => taken.push(room.take(eventsOf(key)))), false);
});
