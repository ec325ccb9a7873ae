/** Apart from the keeper's other tests, because rows of 1 GiB take seconds. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { pino } from "pino";
import { openArtifacts, type Artifacts } from "../../../test/support/artifacts.ts";
import { eventually } from "../../../test/support/service.ts";
import { makeMetrics } from "../../telemetry/metrics.ts";
import { makeArtifactKeeper } from "./artifact-keeper.ts";

let artifacts: Artifacts;
before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());

it("no body is noted while bodies of 1 GiB wait, and the loss is counted and logged", async () => {
  await artifacts.pool.query(
    `INSERT INTO postern.bodies_to_keep (tenant_id, endpoint_id, delivery_id, attempt, kind, body, due_at)
      SELECT 'greedy', gen_random_uuid(), gen_random_uuid(), 1, 'response_body', zeros, now() + interval '1 day'
      FROM (SELECT decode(repeat('00', 67108864), 'hex') AS zeros) AS given, generate_series(1, 16)`,
  );
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info", base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  const metrics = makeMetrics();
  const keeper = makeArtifactKeeper({ ...artifacts.services, planDays: 30, log, metrics });
  keeper.start();
  try {
    const keeps = { requestBodies: false, responseBodies: true, days: null };
    const made = { attempt: 999, longResponseBody: Buffer.from("long") };
    await eventually(async () => keeper.choose(keeps, made) === null);
  } finally {
    await keeper.stop();
  }
  const labels = { kind: "response_body", outcome: "lost", reason: "backlog" };
  assert.deepEqual((await metrics.artifactsTotal.get()).values, [{ labels, value: 1 }]);
  assert.deepEqual(
    lines.map(({ msg, kind, err, times }) => ({ msg, kind, err, times })),
    [
      {
        msg: "bodies of attempts are lost",
        kind: "response_body",
        err: "too many bodies wait to be stored",
        times: 1,
      },
    ],
  );
});
