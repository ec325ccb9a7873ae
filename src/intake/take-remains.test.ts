import assert from "node:assert/strict";
import { it } from "node:test";
import { pino } from "pino";
import { NatsCluster, withoutNats } from "../../test/support/nats-cluster.ts";
import { eventually } from "../../test/support/eventually.ts";
import { parseIntakeUrl } from "./intake-url.ts";
import { openNatsStream } from "./nats-stream.ts";

/** After which a look that lost its server ends. */
const LATE_MS = 7000;

it("a look at the intake's stream leaves no timer behind", { skip: withoutNats() }, async (test) => {
  const cluster = await NatsCluster.start(1);
  test.after(() => cluster.stop());
  const place = parseIntakeUrl(cluster.url) ?? assert.fail();
  const log = pino({ level: "silent" });
  const stream = openNatsStream(place, { name: "postern test", log, makes: true });
  test.after(() => stream.close());
  await eventually(async () =>
    stream.store(Buffer.from("1")).then(
      () => true,
      () => false,
    ),
  );
  const begun = test.mock.method(globalThis, "setTimeout").mock;
  const cleared = test.mock.method(globalThis, "clearTimeout").mock;
  for await (const _ of stream.take(1, new AbortController().signal)) break;
  const late = begun.calls.filter(({ arguments: [, ms] }) => ms === LATE_MS).map(({ result }) => result);
  assert.equal(late.length, 1);
  assert.ok(cleared.calls.some(({ arguments: [timer] }) => timer === late[0]));
});
