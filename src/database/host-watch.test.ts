import assert from "node:assert/strict";
import { it } from "node:test";
import { makeTeller } from "./host-watch.ts";
import type { HostState } from "./hosts.ts";

it("tells each trouble of a host once, and again when it comes back", () => {
  const told: string[] = [];
  const log = { info: () => undefined, warn: (text: string) => void told.push(text) };
  const refusals = ["is read-only", "is read-only", null, "is read-only", "is a standby", "is read-only"];
  const states: HostState[][] = refusals.map((refusal) => [{ name: "db1:5432", refusal, error: null }]);
  const hosts = { current: () => null, timeline: () => 1, states: () => states.shift() ?? [] };
  const tell = makeTeller(hosts, log);
  for (const _ of refusals) tell();
  assert.deepEqual(
    told,
    [0, 1, 2].map(() => "A host of DATABASE_URL can't be used: db1:5432 is read-only"),
  );
});
