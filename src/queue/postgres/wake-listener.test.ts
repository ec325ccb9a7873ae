import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { inspect } from "node:util";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { sessions } from "../../../test/support/sessions.ts";
import { newEndpointId, newEventId } from "../../shared/id.ts";
import { makeLog } from "../../telemetry/log.ts";
import type { EventAtEndpoint } from "../queue.ts";
import { makeWakeListener } from "./wake-listener.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

function listenerThat(
  wake: (group?: number) => void,
  {
    databaseUrl = database.url,
    slotsChanged = (): void => undefined,
    withdraw = (_superseded: EventAtEndpoint): void => undefined,
    warn = (_about: unknown): void => undefined,
  } = {},
) {
  return makeWakeListener({
    databaseUrl,
    log: Object.assign(makeLog("silent"), { warn }),
    wake,
    slotsChanged,
    withdraw,
  });
}

const notify = (payload: string) =>
  database.pool.query("SELECT pg_notify('postern_dispatch', $1)", [payload]);

it("wakes the worker once it listens, and at each notice", async () => {
  let woken = Promise.withResolvers<void>();
  const listener = listenerThat(() => woken.resolve());
  listener.start();
  await woken.promise;
  woken = Promise.withResolvers<void>();
  await database.pool.query("SELECT pg_notify('postern_dispatch', '')");
  await woken.promise;
  await listener.stop();
});

it("says in which groups of slots something is due, and that slots changed", async () => {
  const woken: (number | undefined)[] = [];
  let changes = 0;
  const listener = listenerThat((group) => void woken.push(group), { slotsChanged: () => void changes++ });
  listener.start();
  await eventually(async () => woken.length === 1);
  await notify("slots 7");
  await notify("slots 15");
  await eventually(async () => woken.length === 3);
  await notify("slots changed");
  await notify("");
  await eventually(async () => woken.length === 4);
  assert.deepEqual([woken, changes], [[undefined, 7, 15, undefined], 1]);
  // One notification for all slots makes that for a group needless.
  await database.pool.query(
    "SELECT pg_notify('postern_dispatch', payload) FROM unnest(ARRAY['', 'slots 7']) AS payload",
  );
  await eventually(async () => woken.length > 4);
  assert.deepEqual(woken.slice(4), [undefined]);
  await listener.stop();
});

it("says which event is withdrawn from which endpoint, and takes what it does not know for any work", async () => {
  const woken: (number | undefined)[] = [];
  const withdrawn: EventAtEndpoint[] = [];
  const withdraw = (superseded: EventAtEndpoint): void => void withdrawn.push(superseded);
  const listener = listenerThat((group) => void woken.push(group), { withdraw });
  listener.start();
  await eventually(async () => woken.length === 1);
  const [endpointId, eventId] = [newEndpointId(), newEventId()];
  await notify(`${endpointId} ${eventId}`);
  await eventually(async () => withdrawn.length === 1);
  assert.deepEqual([withdrawn, woken], [[{ endpointId, eventId }], [undefined]]);
  for (const [count, payload] of [
    "slots 16",
    `${endpointId} none`,
    `none ${eventId}`,
    "slots 7 ",
    "my slots 7",
  ].entries()) {
    await notify(payload);
    await eventually(async () => woken.length === count + 2);
  }
  assert.deepEqual([withdrawn.length, woken.filter((group) => group !== undefined)], [1, []]);
  await listener.stop();
});

it("stops at once while it still connects", async () => {
  const listener = listenerThat(() => undefined);
  listener.start();
  await listener.stop();
  assert.deepEqual(await sessions(database.pool, { statement: "LISTEN%" }), []);
});

it("wakes nothing any more once it has stopped", async (test) => {
  const begin = globalThis.setTimeout;
  const pauses: NodeJS.Timeout[] = [];
  // The pause before the worker is woken lasts, so that the stop comes within it.
  test.mock.method(globalThis, "setTimeout", (step: () => void, ms: number) => {
    const timer = begin(step, ms === 10 ? 60_000 : ms);
    if (ms === 10) pauses.push(timer);
    return timer;
  });
  const ended = test.mock.method(globalThis, "clearTimeout");
  const listener = listenerThat(() => undefined);
  listener.start();
  await eventually(async () => pauses.length === 1);
  await listener.stop();
  assert.ok(ended.mock.calls.some(({ arguments: [timer] }) => timer === pauses[0]));
});

it("tells that the database is out of reach, stops meanwhile, and without having started", async () => {
  const told = Promise.withResolvers<unknown>();
  const warn = (about: unknown): void => told.resolve(about);
  const listener = listenerThat(() => undefined, { databaseUrl: "postgres://nobody@127.0.0.1:1/none", warn });
  listener.start();
  assert.match(inspect(await told.promise), /^\{\s+err: Error: .*ECONNREFUSED/);
  await listener.stop();
  await listenerThat(() => undefined).stop();
});
