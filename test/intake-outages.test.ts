/** The intake while servers of its stream are killed. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEndpoint } from "./support/api.ts";
import { dispatchesMade, send, take, untilEmpty } from "./support/intake.ts";
import { NatsCluster, withoutNats } from "./support/nats-cluster.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

const skip = withoutNats();
const EVENT = { type: "invoice.paid", data: {} };

describe("an intake whose servers are killed", { skip }, () => {
  let cluster: NatsCluster;
  let service: TestService;
  const accepted = new Set<string>();

  before(async () => {
    cluster = await NatsCluster.start();
    service = await startTestService({ env: { INTAKE_URL: cluster.url } });
    await createEndpoint(service, { url: service.receiver.url });
    accepted.add(await eventually(() => take(service).catch(() => null)));
  });
  after(async () => {
    await service.stop();
    await cluster.stop();
  });

  /** Keeps publishing, as producers that try again after a 503, while the work is done; and once more behind it. */
  async function publishingDuring(work: () => Promise<void>): Promise<void> {
    let isOver = false;
    const producers = Array.from({ length: 4 }, async () => {
      for (let last = false; !last;) {
        last = isOver;
        const answer = await send(service, EVENT);
        if (answer.status === 202) accepted.add(Object(answer.body).id);
        else {
          assert.equal(answer.status, 503, answer.text);
          assert.ok(Number(answer.headers.get("retry-after")) > 0);
          last = false;
        }
      }
    });
    await work();
    isOver = true;
    await Promise.all(producers);
  }

  async function assertNothingLost(): Promise<void> {
    await untilEmpty(cluster);
    await eventually(async () => {
      const sent = new Set(service.receiver.requests.map(({ headers }) => headers["webhook-id"]));
      return [...accepted].every((id) => sent.has(id));
    });
    const made = await dispatchesMade(service.database);
    assert.deepEqual(
      [...accepted].filter((id) => made.get(id) !== 1),
      [],
    );
    assert.ok([...made.values()].every((count) => count === 1));
  }

  it("has three replicas", async () => {
    const { cluster: group } = await cluster.withManager((manager) => manager.streams.info("postern-intake"));
    assert.equal(group?.replicas?.length, 2);
  });

  it("loses nothing when the stream's leader is killed, and takes events under the next one", async () => {
    const leader = await cluster.leader();
    await publishingDuring(async () => {
      await cluster.kill(leader);
      await eventually(async () => (await cluster.leader()) !== leader);
    });
    cluster.restart(leader);
    await assertNothingLost();
  });

  it("answers 503 while most of its servers are gone, and loses nothing", async () => {
    const gone = cluster.names().slice(0, 2);
    await cluster.kill(...gone);
    const refused = await send(service, EVENT);
    assert.equal(refused.status, 503, refused.text);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    const notReady = await eventually(async () => {
      const answer = await service.call("GET", "/ready", { as: null });
      return answer.status === 503 && answer;
    });
    assert.match(notReady.text, /the intake's stream/);
    cluster.restart(...gone);
    await eventually(async () => (await service.call("GET", "/ready", { as: null })).status === 200);
    accepted.add(await eventually(() => take(service).catch(() => null)));
    await assertNothingLost();
  });

  it("goes on after all of its servers were killed", async () => {
    await publishingDuring(async () => {
      await cluster.kill(...cluster.names());
      cluster.restart(...cluster.names());
      await cluster.untilReady();
    });
    await assertNothingLost();
  });
});
