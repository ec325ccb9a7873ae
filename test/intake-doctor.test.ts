/** What `postern doctor` and `/ready` say of an intake. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { checkIntake } from "../src/cli/doctor/doctor-intake.ts";
import { parseIntakeUrl } from "../src/intake/intake-url.ts";
import { metric, store, take, untilEmpty } from "./support/intake.ts";
import { freePort } from "./support/free-port.ts";
import { NatsCluster, withoutNats } from "./support/nats-cluster.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

const skip = withoutNats();

describe("an intake, as its operator sees it", { skip }, () => {
  let cluster: NatsCluster;
  let service: TestService;

  before(async () => {
    cluster = await NatsCluster.start(3);
  });
  after(async () => {
    await service?.stop();
    await cluster.stop();
  });

  const examine = (url = cluster.url) => checkIntake({ intake: parseIntakeUrl(url) ?? undefined });

  it("is no concern of the doctor where there is none", async () => {
    assert.deepEqual(await checkIntake({ intake: undefined }), []);
  });

  it("is a failure while its servers cannot be reached, or have no stream", async () => {
    for (const [url, detail] of [
      [`nats://127.0.0.1:${await freePort()}`, /no server of INTAKE_URL is connected: connection refused/],
      [cluster.url, /stream not found/],
    ] as const) {
      const [finding, ...others] = await examine(url);
      assert.deepEqual([finding?.status, others], ["fail", []]);
      assert.match(finding?.detail ?? "", detail);
    }
  });

  it("is a failure with a login that its servers refuse, and tells that", async () => {
    const single = await NatsCluster.start(1);
    await single.kill("n1");
    single.restartWith(["--user", "postern", "--pass", "right"], "n1");
    for (const login of ["", "postern:wrong@"]) {
      const refused = await eventually(async () => {
        const [finding] = await examine(single.url.replace("//", `//${login}`));
        return !/connection refused/.test(finding?.detail ?? "") && finding;
      });
      assert.equal(refused.status, "fail");
      assert.match(refused.detail, /no server of INTAKE_URL is connected: .*Authorization Violation/i);
    }
    await single.stop();
  });

  it("is told with its replicas, leader, backlog and consumer", async () => {
    service = await startTestService({ env: { INTAKE_URL: cluster.url } });
    await eventually(() => take(service).catch(() => null));
    await untilEmpty(cluster);
    const leader = await cluster.leader();
    const [first] = await eventually(async () => {
      const found = await examine();
      return /3 of 3 replicas/.test(found[0]?.detail ?? "") && found;
    });
    assert.equal(
      first?.detail,
      `stream postern-intake, 3 of 3 replicas, leader ${leader}; 0 messages; consumer postern-relay with 0 taken`,
    );
  });

  it("warns of servers whose messages are smaller than the largest request", async () => {
    const findings = await examine();
    assert.deepEqual(
      findings.map(({ status, detail }) => [status, /messages of 1048576 bytes/.test(detail)]),
      [
        ["ok", false],
        ["warn", true],
      ],
    );
  });

  it("has gauges of its backlog", async () => {
    await eventually(async () => (await metric(service, "webhook_intake_replicas_current")) === 3);
    assert.equal(await metric(service, 'webhook_intake_messages{state="ready"}'), 0);
    assert.equal(await metric(service, "webhook_intake_oldest_age_seconds"), 0);
    assert.ok((await metric(service, "webhook_intake_accepted_total")) > 0);
    await store(cluster, "postern.events.acme", { type: "of.no.catalog", data: {} });
    await eventually(async () => (await metric(service, 'webhook_intake_messages{state="taken"}')) === 1);
    assert.ok((await metric(service, "webhook_intake_oldest_age_seconds")) > 0);
    const [, oldest = ""] =
      /; 1 message, the oldest of (\S+); /.exec((await examine())[0]?.detail ?? "") ?? [];
    const ageMs = Date.now() - Date.parse(oldest);
    assert.ok(ageMs > -5_000 && ageMs < 600_000, oldest);
  });

  it("is a warning while a replica is gone, and a failure without most of them", async () => {
    const leader = await cluster.leader();
    const [one = "", other = ""] = cluster.names().filter((name) => name !== leader);
    await cluster.kill(one);
    await eventually(async () => {
      const findings = await examine();
      return (
        findings[0]?.status === "ok" &&
        findings.some(({ detail }) => /1 replica is behind or gone/.test(detail))
      );
    });
    await cluster.kill(other);
    await eventually(async () => (await examine())[0]?.status === "fail");
  });

  it("fails the doctor with settings that drop accepted events", async () => {
    const single = await NatsCluster.start(1);
    await single.withManager(async (manager) => {
      const limits = { max_age: 60e9, discard: "old", max_msgs_per_subject: 5 } as const;
      await manager.streams.add({ name: "postern-intake", subjects: ["postern.>"], ...limits });
      const filter = { ack_policy: "explicit", filter_subject: "postern.accepted" } as const;
      await manager.consumers.add("postern-intake", {
        durable_name: "postern-relay",
        max_deliver: 3,
        ...filter,
      });
    });
    const findings = await examine(single.url);
    await single.stop();
    const unsafe = findings.filter(({ status }) => status === "fail").map(({ detail }) => detail);
    assert.deepEqual(
      unsafe.map((detail) => detail.replace(/^.*: /, "").replace(/ instead of .*$/, "")),
      [
        "retention is limits",
        "discard is old",
        "max_age is 60000000000",
        "max_msgs_per_subject is 5",
        "the consumer's max_deliver is 3",
        "the consumer's max_ack_pending is 1000",
        "the consumer's filter is postern.accepted",
      ],
    );
  });

  it("fails the doctor while the stream takes nothing, and warns that no worker asks for its messages", async () => {
    const single = await NatsCluster.start(1);
    await single.withManager(async (manager) => {
      const limits = { retention: "workqueue", discard: "new", max_msgs: 1, max_msg_size: 300 } as const;
      await manager.streams.add({ name: "postern-intake", subjects: ["postern.>"], ...limits });
      const pause_until = new Date(Date.now() + 3_600_000).toISOString();
      const settings = {
        ack_policy: "explicit",
        max_ack_pending: -1,
        headers_only: true,
        pause_until,
      } as const;
      await manager.consumers.add("postern-intake", { durable_name: "postern-relay", ...settings });
    });
    await store(single, "postern.events.acme", { type: "of.no.catalog", data: {} });
    const findings = await examine(single.url);
    await single.stop();
    assert.deepEqual(
      findings
        .slice(1)
        .map(({ status, detail }) => `${status} ${detail.replace(/^.*: (?=the consumer)/, "")}`),
      [
        "fail the stream takes no events: it is full: max_msgs is 1",
        "fail the consumer's headers_only is true instead of false",
        "fail the consumer is paused",
        "warn 1 replica does not survive the loss of a server",
        "warn the servers, or the stream, take messages of 300 bytes: larger requests are answered 413",
        "warn 1 message waits, and no worker asks for it",
      ],
    );
  });
});
