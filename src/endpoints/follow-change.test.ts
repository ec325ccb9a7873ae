import assert from "node:assert/strict";
import { it } from "node:test";
import { pino } from "pino";
import { tenant } from "../../test/support/two-tenants.ts";
import { newEndpointId } from "../shared/id.ts";
import { followChange } from "./follow-change.ts";

it("a change that is committed is not refused where the queue cannot follow it yet: the log says so", async () => {
  const endpoint = { tenantId: tenant("acme"), endpointId: newEndpointId() };
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  const asked: unknown[] = [];
  const queue = {
    async endpointChanged(changed: unknown) {
      asked.push(changed);
      throw new Error("the database is away");
    },
  };
  await followChange({ queue, log }, endpoint);
  assert.deepEqual(asked, [endpoint]);
  const [{ level, tenantId, endpointId, err } = {}, ...others] = lines;
  assert.deepEqual([level, tenantId, endpointId, others], [40, endpoint.tenantId, endpoint.endpointId, []]);
  assert.equal(Object(err).message, "the database is away");
});
