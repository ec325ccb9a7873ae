/** The intake of a NATS server whose disk is full: it still answers what it is asked, and stores nothing. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { send, take } from "./support/intake.ts";
import { NatsCluster, withoutNats } from "./support/nats-cluster.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { mountSmallDisk } from "./support/small-disk.ts";

const disk = await mountSmallDisk(32);
const skip = withoutNats() || (disk === null && "only root may mount the small disk");
const REASON =
  "the intake's stream takes nothing (timeout): see the logs of the NATS servers, and their disks";

describe("an intake whose server's disk is full", { skip }, () => {
  let cluster: NatsCluster;
  let service: TestService;

  before(async () => {
    cluster = await NatsCluster.start(1, disk?.folder);
    service = await startTestService({ env: { INTAKE_URL: cluster.url } });
    await eventually(() => take(service).catch(() => null));
  });
  after(async () => {
    await service.stop();
    await cluster.stop();
    await disk?.unmount();
  });

  const ready = () => service.call("GET", "/ready", { as: null });

  it("makes the process unready, because no event is taken", async () => {
    assert.equal((await ready()).status, 200);
    await disk?.fill();
    const reasons = await eventually(async (): Promise<unknown[] | null> => {
      const answer = await send(service, { type: "invoice.paid", data: { text: "x".repeat(100_000) } });
      const { status, body } = await ready();
      return answer.status === 503 && status === 503 ? Object(body).reasons : null;
    });
    assert.deepEqual(reasons, [REASON]);
  });

  it("is ready again at the first event that is taken", async () => {
    await disk?.free();
    // NATS gives a stream up whose disk was full, until its server is started again.
    await cluster.kill(...cluster.names());
    cluster.restart(...cluster.names());
    await eventually(() => take(service).catch(() => null));
    await eventually(async () => (await ready()).status === 200);
  });
});
