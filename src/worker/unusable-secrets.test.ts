/** How often an endpoint's secret that does not open is told, and for how long it is remembered. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { newEndpointId } from "../shared/id.ts";
import { UnusableSecrets } from "./unusable-secrets.ts";

it("tells of each endpoint at once and then once a minute, and forgets one that is met no more", async () => {
  const clock = new VirtualClock();
  const secrets = new UnusableSecrets(clock);
  const [one, other] = [newEndpointId(), newEndpointId()];
  assert.equal(secrets.count(), 0);
  assert.deepEqual([secrets.meet(one), secrets.meet(one), secrets.meet(other)], [true, false, true]);
  assert.equal(secrets.count(), 2);
  await clock.runUntil(clock.nowMs() + 59_999);
  assert.equal(secrets.meet(one), false);
  await clock.runUntil(clock.nowMs() + 1);
  assert.deepEqual([secrets.meet(one), secrets.meet(one)], [true, false]);
  await clock.runUntil(clock.nowMs() + 90_001);
  assert.equal(secrets.count(), 1);
  assert.equal(secrets.meet(other), true);
  await clock.runUntil(clock.nowMs() + 150_001);
  assert.equal(secrets.count(), 0);
});
