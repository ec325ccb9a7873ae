import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exposeMetrics } from "./exposition.ts";
import { makeMetrics, watchProcess } from "./metrics.ts";

/** What dashboards and alerts rely on: each metric's type, name and labels. */
const METRICS = [
  "histogram http_server_request_duration_seconds http_request_method http_route http_response_status_code",
  "counter http_server_rate_limited_total limit",
  "counter http_server_connections_closed_total why",
  "counter webhook_catalog_reads_total outcome",
  "gauge webhook_catalog_refused",
  "counter webhook_intake_accepted_total",
  "counter webhook_intake_refused_total reason shard",
  "counter webhook_intake_put_back_total reason shard",
  "gauge webhook_intake_oldest_age_seconds",
  "gauge webhook_log_watchers",
  "counter webhook_log_watch_rows_total outcome",
  "gauge webhook_pull_waiting",
  "counter webhook_pull_leased_total",
  "counter webhook_pull_acks_total outcome",
  "counter webhook_pull_expired_total",
  "gauge webhook_clock_difference_seconds",
  "gauge webhook_standby_lag_bytes standby sync_state",
  "gauge webhook_standby_lag_seconds standby sync_state",
  "counter webhook_unusable_secrets_total reason",
  "counter webhook_events_accepted_total",
  "counter webhook_events_rejected_total reason",
  "counter webhook_delivery_attempts_total outcome reason",
  "histogram webhook_delivery_attempt_duration_seconds",
  "histogram webhook_delivery_latency_seconds",
  "counter webhook_dispatches_returned_total reason",
  "counter webhook_outcomes_refused_total handling",
  "counter webhook_endpoints_disabled_total reason",
  "counter webhook_own_events_total type",
  "counter webhook_dead_workers_total",
  "counter webhook_upkeep_failures_total work",
  "counter webhook_retention_blocked_total",
  "gauge webhook_oldest_day_timestamp_seconds table",
  "histogram storage_operation_duration_seconds operation outcome",
  "counter storage_objects_expired_total",
  "counter storage_reconcile_decisions_total decision",
  "gauge storage_reconcile_halted",
  "gauge storage_owner_trouble",
  "counter storage_trash_emptied_total",
  "gauge storage_reconcile_completed_timestamp_seconds",
  "counter storage_artifacts_total kind outcome reason",
  "gauge storage_bodies_waiting",
  "counter storage_exports_total outcome",
  "gauge webhook_queue_depth state",
  "gauge webhook_queue_oldest_age_seconds",
  "gauge webhook_queue_longest_wait_seconds",
  "gauge webhook_queue_dead_leases",
  "gauge webhook_outbox_waiting",
  "gauge webhook_outbox_oldest_age_seconds",
  "gauge webhook_handovers_waiting",
  "gauge webhook_handovers_oldest_age_seconds",
  "gauge webhook_worker_dispatches state",
  "gauge webhook_worker_bytes",
  "gauge webhook_worker_backlogged_endpoints",
  "gauge webhook_worker_slots",
  "gauge webhook_intake_messages state",
  "gauge webhook_intake_replicas_current",
];

const lanes = { waiting: 1, inFlight: 2, weight: 3, backlogs: 4 };

/** The lines that have this name, less those about it. */
const samplesOf = (text: string, name: string) =>
  text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

function withShards() {
  const process = makeMetrics();
  watchProcess(process);
  const shards = ["eu1", "eu2"].map((shard) => makeMetrics({ shard, process: process.ofProcess }));
  return { process, shards };
}

describe("the metrics", () => {
  it("have their names, types and labels", () => {
    const metrics = makeMetrics();
    watchProcess(metrics);
    metrics.watchLanes(lanes);
    metrics.watchSlots({ count: 5 });
    metrics.watchIntake();
    const found = metrics.registry
      .getMetricsAsArray()
      .filter(({ name }) => !/^(?:process|nodejs)_/.test(name))
      .map((metric) => {
        const labels: unknown[] = "labelNames" in metric ? [metric.labelNames].flat() : [];
        return [metric.constructor.name.toLowerCase(), metric.name, ...labels].join(" ");
      });
    assert.deepEqual(found, METRICS);
    for (const name of ["process_cpu_seconds_total", "nodejs_eventloop_lag_seconds"]) {
      assert.ok(metrics.registry.getSingleMetric(name) !== undefined, name);
    }
  });

  it("of a duration have buckets from what is quick to what is far too slow", async () => {
    const metrics = makeMetrics();
    for (const [metric, buckets] of [
      [metrics.attemptDuration, "0.001 0.002 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 15 60 300 3600 +Inf"],
      [metrics.deliveryLatency, "0.001 0.002 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 15 60 300 3600 +Inf"],
      [metrics.requestDuration, "0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 5 +Inf"],
      [metrics.storageDuration, "0.001 0.005 0.01 0.05 0.1 0.5 1 5 30 120 +Inf"],
    ] as const) {
      metric.observe(2);
      const { name } = await metric.get();
      const bounds = samplesOf(await metrics.registry.metrics(), `${name}_bucket`);
      assert.equal(bounds.map((line) => /le="([^"]*)"/.exec(line)?.[1]).join(" "), buckets, name);
    }
  });

  it("of what a worker holds are read at each look", async () => {
    const metrics = makeMetrics();
    const [held, slots] = [{ ...lanes }, { count: 5 }];
    metrics.watchLanes(held);
    metrics.watchSlots(slots);
    const shown = async () => {
      const text = await metrics.registry.metrics();
      return ["dispatches", "bytes", "backlogged_endpoints", "slots"].flatMap((name) =>
        samplesOf(text, `webhook_worker_${name}`).map((line) => line.replace("webhook_worker_", "")),
      );
    };
    const first = ['dispatches{state="waiting"} 1', 'dispatches{state="in_flight"} 2'];
    assert.deepEqual(await shown(), [...first, "bytes 3", "backlogged_endpoints 4", "slots 5"]);
    Object.assign(held, { waiting: 6, inFlight: 7, weight: 8, backlogs: 9 });
    slots.count = 10;
    const then = ['dispatches{state="waiting"} 6', 'dispatches{state="in_flight"} 7'];
    assert.deepEqual(await shown(), [...then, "bytes 8", "backlogged_endpoints 9", "slots 10"]);
  });
});

describe("the exposition", () => {
  it("of one database is its registry's, without a shard", async () => {
    const metrics = makeMetrics();
    metrics.eventsAccepted.inc(3);
    const text = await exposeMetrics(metrics, []);
    assert.deepEqual(samplesOf(text, "webhook_events_accepted_total"), ["webhook_events_accepted_total 3"]);
  });

  it("of shards has each family once, with each shard's samples, and what is the process's once", async () => {
    const { process, shards } = withShards();
    const [one, other] = shards;
    one?.eventsAccepted.inc(3);
    other?.eventsAccepted.inc(4);
    one?.catalogRefused.set(1);
    other?.rateLimited.inc({ limit: "writes" }, 2);
    const text = await exposeMetrics(process, shards);
    assert.deepEqual(samplesOf(text, "webhook_events_accepted_total"), [
      'webhook_events_accepted_total{shard="eu1"} 3',
      'webhook_events_accepted_total{shard="eu2"} 4',
    ]);
    assert.deepEqual(samplesOf(text, "webhook_catalog_refused"), ["webhook_catalog_refused 1"]);
    assert.deepEqual(samplesOf(text, "http_server_rate_limited_total"), [
      'http_server_rate_limited_total{limit="writes"} 2',
    ]);
    const heads = text.split("\n").filter((line) => line.startsWith("# HELP "));
    const names = heads.map((line) => line.split(" ")[2] ?? "");
    assert.equal(new Set(names).size, names.length);
    const expected = METRICS.map((metric) => metric.split(" ")[1] ?? "").filter(
      (name) => !/^webhook_worker_|^webhook_intake_(?:messages|replicas)/.test(name),
    );
    assert.deepEqual(
      expected.filter((name) => !names.includes(name)),
      [],
    );
    assert.ok(names.includes("process_cpu_seconds_total"));
  });

  it("of shards is what Prometheus reads: a family's type before its samples, and they together", async () => {
    const { process, shards } = withShards();
    for (const { attemptDuration } of shards) attemptDuration.observe(0.3);
    const text = await exposeMetrics(process, shards);
    let family = "";
    let lastComment = "";
    for (const line of text.split("\n")) {
      const [, comment, name = ""] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (comment === "HELP") family = name;
      if (comment === "TYPE") assert.deepEqual([lastComment, name], [`HELP ${family}`, family]);
      if (comment !== undefined) lastComment = `${comment} ${name}`;
      else if (line !== "") {
        assert.ok(line.startsWith(family), line);
        assert.equal(lastComment, `TYPE ${family}`);
      }
    }
    assert.equal(samplesOf(text, "webhook_delivery_attempt_duration_seconds_count").length, 2);
  });
});
