/** Servers of the intake that refuse the login of a connection that they took before, as behind a change of the password. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { NatsCluster, withoutNats } from "../../test/support/nats-cluster.ts";
import { eventually } from "../../test/support/eventually.ts";
import { parseIntakeUrl } from "./intake-url.ts";
import { openNatsStream } from "./nats-stream.ts";
import { StreamUnavailableError, type IntakeStream } from "./stream.ts";

const REFUSED = "no server of INTAKE_URL is connected: Authorization Violation";
const withPassword = (pass: string) => ["--user", "postern", "--pass", pass];

describe("a login that the intake's servers refuse from now on", { skip: withoutNats() }, () => {
  let cluster: NatsCluster;
  let stream: IntakeStream;
  const kept = makeKeptLog();
  const levels = () => kept.lines.map(({ level }) => level);

  before(async () => {
    cluster = await NatsCluster.start(1);
    await restartWith("before");
    const place = parseIntakeUrl(cluster.url.replace("//", "//postern:before@")) ?? assert.fail();
    stream = openNatsStream(place, { name: "postern test", log: kept.log, makes: true });
    await eventually(async () => levels().includes(30));
    kept.lines.length = 0;
    await restartWith("changed");
  });
  after(async () => {
    await stream?.close();
    await cluster.stop();
  });

  async function restartWith(pass: string): Promise<void> {
    await cluster.kill("n1");
    cluster.restartWith(withPassword(pass), "n1");
  }

  it("is logged as that, once, also where nobody publishes", async () => {
    await eventually(async () => kept.lines.length > 0);
    assert.deepEqual(
      kept.lines.map(({ level, err }) => [level, err]),
      [[40, "Authorization Violation"]],
    );
  });

  it("is what the stream says of itself, and to who publishes", async () => {
    for (const failed of [stream.store(Buffer.from("{}")), stream.status()])
      await assert.rejects(failed, new StreamUnavailableError(REFUSED));
    await assert.rejects(async () => {
      for await (const _ of stream.take(1, AbortSignal.timeout(60_000))) assert.fail();
    }, new Error(REFUSED));
  });

  it("is forgotten when it is taken again", async () => {
    await restartWith("before");
    await eventually(() =>
      stream.store(Buffer.from("{}")).then(
        () => true,
        () => false,
      ),
    );
    assert.equal((await stream.status()).messages, 1);
  });
});
