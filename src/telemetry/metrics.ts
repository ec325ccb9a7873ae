import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "@prometheus-io/client";

type ProcessMetrics = ReturnType<typeof makeProcessMetrics>;
export type Metrics = ReturnType<typeof makeMetrics>;

/** What a worker holds: dispatches, their bytes about, and endpoints whose backlog is in the table. */
type LanesInMemory = {
  readonly waiting: number;
  readonly inFlight: number;
  readonly weight: number;
  readonly backlogs: number;
};

const LATENCY_BUCKETS_S = [
  0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600,
];

/** What a process counts whatever its databases are. */
function makeProcessMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requestDuration: new Histogram({
      name: "http_server_request_duration_seconds",
      help: "Time to answer a request of the API.",
      labelNames: ["http_request_method", "http_route", "http_response_status_code"] as const,
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
    rateLimited: new Counter({
      name: "http_server_rate_limited_total",
      help: "Requests answered 429 because of a limit on callers: writes, dispatches, authentications.",
      labelNames: ["limit"] as const,
      registers,
    }),
    connectionsClosed: new Counter({
      name: "http_server_connections_closed_total",
      help: "Connections closed because too many are open, by why: idle (it made room for another), refused.",
      labelNames: ["why"] as const,
      registers,
    }),
    catalogReads: new Counter({
      name: "webhook_catalog_reads_total",
      help: "Times that the changed file of the event catalog was read, by outcome: read (in force since), refused.",
      labelNames: ["outcome"] as const,
      registers,
    }),
    catalogRefused: new Gauge({
      name: "webhook_catalog_refused",
      help: "1 while the file of the event catalog has a fault and the former catalog stays in force.",
      registers,
    }),
    intakeAccepted: new Counter({
      name: "webhook_intake_accepted_total",
      help: "Events that this process answered once the intake's stream had them.",
      registers,
    }),
    intakeRefused: new Counter({
      name: "webhook_intake_refused_total",
      help: "Messages and events of the intake that are not sent, by reason (malformed, tenant, data, unknown_event_type, idempotency_key_reused).",
      labelNames: ["reason", "shard"] as const,
      registers,
    }),
    intakePutBack: new Counter({
      name: "webhook_intake_put_back_total",
      help: "Messages put back into the intake's stream to be taken again, by reason (away, moving, failed, unknown_event_type).",
      labelNames: ["reason", "shard"] as const,
      registers,
    }),
    intakeOldestAge: new Gauge({
      name: "webhook_intake_oldest_age_seconds",
      help: "Age of the oldest message in the intake's stream; 0 where there is none.",
      registers,
    }),
  };
}

/** Adds the CPU, memory and garbage of this process, which it observes until it ends: once a process. */
export function watchProcess({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}

/**
 * The program's metrics in a registry of their own: base units, and no tenant, URL or id as a label.
 * With shards there is one for each, whose name is a label; they share what is the process's.
 */
export function makeMetrics(of?: { shard: string; process: ProcessMetrics }) {
  const registry = new Registry();
  const registers = [registry];
  if (of !== undefined) registry.setDefaultLabels({ shard: of.shard });
  const ofProcess: ProcessMetrics = of?.process ?? makeProcessMetrics(registry);

  /** For a process with a worker: its dispatches in memory, read at each scrape. */
  function watchLanes(lanes: LanesInMemory): void {
    const dispatches = new Gauge({
      name: "webhook_worker_dispatches",
      help: "Dispatches in this worker's memory by state: waiting, in_flight.",
      labelNames: ["state"] as const,
      registers: [],
      collect() {
        this.set({ state: "waiting" }, lanes.waiting);
        this.set({ state: "in_flight" }, lanes.inFlight);
      },
    });
    registry.registerMetric(dispatches);
    const bytes = new Gauge({
      name: "webhook_worker_bytes",
      help: "Memory that the dispatches in this worker take, about.",
      registers: [],
      collect() {
        this.set(lanes.weight);
      },
    });
    registry.registerMetric(bytes);
    const backlogs = new Gauge({
      name: "webhook_worker_backlogged_endpoints",
      help: "Endpoints with more due dispatches than this worker takes into memory.",
      registers: [],
      collect() {
        this.set(lanes.backlogs);
      },
    });
    registry.registerMetric(backlogs);
  }

  /** For a process with an intake: gauges of which 0 would say that its stream is gone. */
  function watchIntake() {
    return {
      messages: new Gauge({
        name: "webhook_intake_messages",
        help: "Messages in the intake's stream by state: ready, taken (held by a worker, or put back for a while).",
        labelNames: ["state"] as const,
        registers,
      }),
      replicas: new Gauge({
        name: "webhook_intake_replicas_current",
        help: "Replicas of the intake's stream that have all of its messages.",
        registers,
      }),
    };
  }

  /** For a process with a worker: how many slots it has. */
  function watchSlots(slots: { readonly count: number }): void {
    const owned = new Gauge({
      name: "webhook_worker_slots",
      help: "Slots of endpoints (of 256) whose attempts this worker makes.",
      registers: [],
      collect() {
        this.set(slots.count);
      },
    });
    registry.registerMetric(owned);
  }

  return {
    registry,
    watchLanes,
    watchIntake,
    watchSlots,
    ...ofProcess,
    ofProcess,
    logWatchers: new Gauge({
      name: "webhook_log_watchers",
      help: "Open streams of a tenant's log (GET /api/deliveries/stream).",
      registers,
    }),
    logWatchRows: new Counter({
      name: "webhook_log_watch_rows_total",
      help: "Deliveries for those streams, by outcome: sent, skipped.",
      labelNames: ["outcome"] as const,
      registers,
    }),
    pullWaiting: new Gauge({
      name: "webhook_pull_waiting",
      help: "Clients of pull endpoints that wait for events at this process.",
      registers,
    }),
    pullLeased: new Counter({
      name: "webhook_pull_leased_total",
      help: "Events leased to clients of pull endpoints.",
      registers,
    }),
    pullAcks: new Counter({
      name: "webhook_pull_acks_total",
      help: "Acknowledgements of clients, by outcome: delivered, refused, late (their lease had ended).",
      labelNames: ["outcome"] as const,
      registers,
    }),
    pullExpired: new Counter({
      name: "webhook_pull_expired_total",
      help: "Events leased to clients that were not acknowledged in time.",
      registers,
    }),
    clockDifference: new Gauge({
      name: "webhook_clock_difference_seconds",
      help: "How far this machine's clock is ahead of the database's at the least; below 0 if it is behind.",
      registers,
    }),
    standbyLagBytes: new Gauge({
      name: "webhook_standby_lag_bytes",
      help: "Write-ahead log that a standby of the database has not replayed yet.",
      labelNames: ["standby", "sync_state"] as const,
      registers,
    }),
    standbyLagSeconds: new Gauge({
      name: "webhook_standby_lag_seconds",
      help: "Time from a commit to its replay by a standby of the database; 0 while nothing is written.",
      labelNames: ["standby", "sync_state"] as const,
      registers,
    }),
    unusableSecrets: new Counter({
      name: "webhook_unusable_secrets_total",
      help: "Times that a stored signing secret did not open, by reason: form, key, altered.",
      labelNames: ["reason"] as const,
      registers,
    }),
    eventsAccepted: new Counter({
      name: "webhook_events_accepted_total",
      help: "Events made durable, each counted once.",
      registers,
    }),
    eventsRejected: new Counter({
      name: "webhook_events_rejected_total",
      help: "Events published from SQL that could not be accepted, by reason.",
      labelNames: ["reason"] as const,
      registers,
    }),
    attemptsTotal: new Counter({
      name: "webhook_delivery_attempts_total",
      help: "Attempts made, by outcome (delivered, failed, error) and reason.",
      labelNames: ["outcome", "reason"] as const,
      registers,
    }),
    attemptDuration: new Histogram({
      name: "webhook_delivery_attempt_duration_seconds",
      help: "Time from sending to the end of the answer.",
      buckets: LATENCY_BUCKETS_S,
      registers,
    }),
    deliveryLatency: new Histogram({
      name: "webhook_delivery_latency_seconds",
      help: "Time from accepting an event to the end of its delivery, first attempts only.",
      buckets: LATENCY_BUCKETS_S,
      registers,
    }),
    dispatchesReturned: new Counter({
      name: "webhook_dispatches_returned_total",
      help: "Dispatches given back without an attempt, by reason (no_room, late, unseen, held, withdrawn, stopping, moved).",
      labelNames: ["reason"] as const,
      registers,
    }),
    outcomesRefused: new Counter({
      name: "webhook_outcomes_refused_total",
      help: "Outcomes that the database refused for good, by handling (recorded_bare, deferred).",
      labelNames: ["handling"] as const,
      registers,
    }),
    endpointsDisabled: new Counter({
      name: "webhook_endpoints_disabled_total",
      help: "Endpoints that were disabled by what they answered, by reason (gone, failing).",
      labelNames: ["reason"] as const,
      registers,
    }),
    ownEvents: new Counter({
      name: "webhook_own_events_total",
      help: "Events of Postern's own that were relayed to the queue, by type; without the operator's copies.",
      labelNames: ["type"] as const,
      registers,
    }),
    deadWorkers: new Counter({
      name: "webhook_dead_workers_total",
      help: "Workers that this one found dead, and whose leases it freed.",
      registers,
    }),
    upkeepFailures: new Counter({
      name: "webhook_upkeep_failures_total",
      help: "Upkeep that failed and is tried again, by work.",
      labelNames: ["work"] as const,
      registers,
    }),
    retentionBlocked: new Counter({
      name: "webhook_retention_blocked_total",
      help: "Times that a partition past its retention could not be dropped, because it was locked.",
      registers,
    }),
    oldestDay: new Gauge({
      name: "webhook_oldest_day_timestamp_seconds",
      help: "The oldest day that is kept, by table (events, deliveries); 0 where there is none.",
      labelNames: ["table"] as const,
      registers,
    }),
    storageDuration: new Histogram({
      name: "storage_operation_duration_seconds",
      help: "Time of an operation on the object store, by operation (put, head, list, get, delete) and outcome.",
      labelNames: ["operation", "outcome"] as const,
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120],
      registers,
    }),
    storageExpiredTotal: new Counter({
      name: "storage_objects_expired_total",
      help: "Artifacts closed to downloads at their deadline.",
      registers,
    }),
    storageDecisionsTotal: new Counter({
      name: "storage_reconcile_decisions_total",
      help: "What was decided on keys where row and object differ, by decision.",
      labelNames: ["decision"] as const,
      registers,
    }),
    storageReconcileHalted: new Gauge({
      name: "storage_reconcile_halted",
      help: "1 while reconciling waits for an operator, since it would destroy too much at once.",
      registers,
    }),
    storageOwnerTrouble: new Gauge({
      name: "storage_owner_trouble",
      help: "1 while the bucket may not be this installation's: nothing is deleted in it.",
      registers,
    }),
    storageTrashEmptiedTotal: new Counter({
      name: "storage_trash_emptied_total",
      help: "Objects without a row that were deleted for good after their days in the trash.",
      registers,
    }),
    storageReconciledAt: new Gauge({
      name: "storage_reconcile_completed_timestamp_seconds",
      help: "When this process last completed a pass over the bucket.",
      registers,
    }),
    artifactsTotal: new Counter({
      name: "storage_artifacts_total",
      help: "Bodies of attempts to keep, by kind, outcome (kept, lost, beyond_999) and reason of a loss (backlog, store, gone).",
      labelNames: ["kind", "outcome", "reason"] as const,
      registers,
    }),
    bodiesWaiting: new Gauge({
      name: "storage_bodies_waiting",
      help: "Bodies of attempts that wait to be stored, of all processes.",
      registers,
    }),
    exportsTotal: new Counter({
      name: "storage_exports_total",
      help: "Exports that came to an end, by outcome (ready, failed).",
      labelNames: ["outcome"] as const,
      registers,
    }),
    queueDepth: new Gauge({
      name: "webhook_queue_depth",
      help: "Dispatches by state: due, leased, parked, scheduled, held, unfetched (at pull endpoints).",
      labelNames: ["state"] as const,
      registers,
    }),
    queueOldestAge: new Gauge({
      name: "webhook_queue_oldest_age_seconds",
      help: "Age of the dispatch that is due longest and not leased.",
      registers,
    }),
    queueLongestWait: new Gauge({
      name: "webhook_queue_longest_wait_seconds",
      help: "For how long the dispatch that waits longest for a worker could have been claimed.",
      registers,
    }),
    queueDeadLeases: new Gauge({
      name: "webhook_queue_dead_leases",
      help: "Dispatches whose lease ended over a minute ago and that no worker claimed again.",
      registers,
    }),
    outboxWaiting: new Gauge({
      name: "webhook_outbox_waiting",
      help: "Events published from SQL that no worker has relayed yet.",
      registers,
    }),
    outboxOldestAge: new Gauge({
      name: "webhook_outbox_oldest_age_seconds",
      help: "Age of the oldest event published from SQL that no worker has relayed yet.",
      registers,
    }),
    handoversWaiting: new Gauge({
      name: "webhook_handovers_waiting",
      help: "Events in this shard that no worker has handed over to their tenants' shards yet.",
      registers,
    }),
    handoversOldestAge: new Gauge({
      name: "webhook_handovers_oldest_age_seconds",
      help: "Age of the oldest event in this shard that waits to be handed over to another.",
      registers,
    }),
  };
}
