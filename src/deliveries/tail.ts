/**
 * Watching a tenant's log as rows are added to it, by whatever process.
 *
 * While a log has watchers, this process notes that in the database. The log's
 * trigger sees the note, and names what it adds in a notification, which all
 * processes hear once it is committed. They read the rows that their watchers
 * want, a few times a second and together, so a watcher costs little more than
 * the rows it is sent. Without watchers the only cost is the trigger's read of an
 * empty table.
 */
import { randomUUID } from "node:crypto";
import { keepListening } from "../database/keep-listening.ts";
import { isMisrouted } from "../database/residence.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { together } from "../shared/ending.ts";
import { every, pause } from "../shared/every.ts";
import type { TenantId } from "../shared/id.ts";
import { Places } from "../shared/places.ts";
import { Refusal } from "../shared/refusal.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import type { Delivery } from "./delivery.ts";
import { readDeliveryHeads } from "./delivery-store.ts";
import {
  addSkipped,
  pick,
  keepWaiting,
  readAnnouncement,
  type Added,
  type TailFilter,
  type Waiting,
} from "./tail-batch.ts";
import { endWatch, LOG_CHANNEL, noteWatch } from "./tail-store.ts";

const FLUSH_EVERY_MS = 200;
/** So 50 a second. */
const MOST_AT_ONCE = 10;
const NOTE_EVERY_MS = 10_000;
const LISTEN_LIMIT_MS = 5000;
const MAX_WATCHERS = { total: 200, ofKey: 10 };
/** Of a tenant, from one flush to the next; what comes beyond is skipped. */
const MAX_WAITING = 2000;
const RETRY_AFTER_S = 10;
const LATE = `news of the log could not be listened to within ${LISTEN_LIMIT_MS / 1000} s`;

export type TailSink = {
  /** False while what was sent before is still unread. */
  hasRoom(): boolean;
  /** Oldest first, without bodies. */
  send(deliveries: readonly Delivery[]): void;
  /** Rows that may have matched and are not sent; null if their number is unknown. */
  skip(count: number | null): void;
  /** Nothing more comes: another tenant needs the place, or this one lives in another database now, where it can be watched. */
  end(): void;
};

type Watcher = { filter: TailFilter; sink: TailSink; skipped: number | null; giveBack: () => void };
type Running = { opened: Promise<void>; stop(): Promise<void> };
type Watched = Waiting & { watchers: Set<Watcher> };

type Services = {
  tenants: TenantPool;
  databaseUrl: string;
  log: Log;
  metrics: Pick<Metrics, "logWatchers" | "logWatchRows">;
  /** Only tests choose. */
  wait?: typeof pause;
};

export class LogTail {
  readonly #services: Services;
  readonly #id = randomUUID();
  readonly #tellUnread: (error: unknown) => void;
  readonly #places = new Places<TenantId>(MAX_WATCHERS);
  readonly #tenants = new Map<TenantId, Watched>();
  /** Notes that are being taken back: one that is made meanwhile would go with them. */
  readonly #ending = new Map<TenantId, Promise<void>>();
  /** Under way, of tenants that may have no watcher any more. */
  readonly #flushes = new Map<Watched, Promise<void>>();
  /** While there are watchers. */
  #running: Running | null = null;

  constructor(services: Services) {
    this.#services = services;
    this.#tellUnread = warnSeldom(services.log, "cannot read what was added to a watched log");
  }

  /**
   * From its answer on, the sink gets what is added; the answer ends that.
   * Refuses an eleventh watcher of a tenant, and a 201st of the process
   * unless another tenant has two more than this one: then one of those ends.
   */
  async watch(tenantId: TenantId, filter: TailFilter, sink: TailSink): Promise<() => void> {
    const end = (): void => this.#end(tenantId, watcher);
    const giveBack = this.#places.take(tenantId, () => {
      end();
      sink.end();
    });
    if (giveBack === null) throw new Refusal("too_many_requests", { retryAfterS: RETRY_AFTER_S });
    const watcher: Watcher = { filter, sink, skipped: 0, giveBack };
    const known = this.#tenants.get(tenantId) ?? { watchers: new Set(), waiting: [], omitted: 0 };
    known.watchers.add(watcher);
    this.#services.metrics.logWatchers.inc();
    this.#tenants.set(tenantId, known);
    try {
      this.#running ??= this.#start();
      const late = (): Error =>
        new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S, cause: new Error(LATE) });
      await withinLimit(this.#running.opened, LISTEN_LIMIT_MS, late);
      await this.#ending.get(tenantId);
      await noteWatch(this.#services.tenants.of(tenantId), tenantId, this.#id);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** Its watchers are told nothing more. */
  async close(): Promise<void> {
    this.#tenants.clear();
    await this.#stop();
  }

  #end(tenantId: TenantId, watcher: Watcher): void {
    const known = this.#tenants.get(tenantId);
    if (known?.watchers.delete(watcher) !== true) return;
    watcher.giveBack();
    this.#services.metrics.logWatchers.dec();
    if (known.watchers.size > 0) return;
    this.#tenants.delete(tenantId);
    const ending = this.#takeBack(tenantId, this.#ending.get(tenantId)).finally(() => {
      if (this.#ending.get(tenantId) === ending) this.#ending.delete(tenantId);
    });
    this.#ending.set(tenantId, ending);
    if (this.#tenants.size === 0) void this.#stop();
  }

  /** `before`: what is being taken back already, which a later note must wait for too. */
  async #takeBack(tenantId: TenantId, before: Promise<void> | undefined): Promise<void> {
    const { tenants, log } = this.#services;
    await before;
    try {
      await endWatch(tenants.of(tenantId), tenantId, this.#id);
    } catch (error) {
      if (isMisrouted(error)) return;
      log.warn({ err: error }, "the note of a watched log ends by itself in half a minute");
    }
  }

  #start(): Running {
    const { databaseUrl: url, log, wait = pause } = this.#services;
    const stopping = new AbortController();
    const opened = Promise.withResolvers<void>();
    let hasOpened = false;
    const listening = keepListening(
      { url, role: "postern_tenant", channel: LOG_CHANNEL },
      {
        heard: (payload) => this.#hear(payload),
        opened: () => {
          if (hasOpened) this.#missAll();
          hasOpened = true;
          opened.resolve();
        },
        failed: warnSeldom(log, "cannot listen to the log; watchers miss what is added"),
      },
    );
    const failed = warnSeldom(log, "cannot send new deliveries to streams of the log");
    const repeat = (ms: number, work: () => Promise<void>) =>
      every(ms, work, { signal: stopping.signal, failed, wait });
    const work = [
      repeat(FLUSH_EVERY_MS, async () => this.#flush(failed)),
      repeat(NOTE_EVERY_MS, () => this.#noteAll()),
    ];
    return {
      opened: opened.promise,
      stop: async () => {
        stopping.abort();
        await together([...work, listening.stop(), ...this.#flushes.values()], (ended) => ended);
      },
    };
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.stop();
  }

  #hear(payload: string): void {
    const announced = readAnnouncement(payload);
    if (announced === null) return;
    const known = this.#tenants.get(announced.tenantId);
    if (known !== undefined) keepWaiting(known, announced, MAX_WAITING);
  }

  #missAll(): void {
    for (const { watchers } of this.#tenants.values()) {
      for (const watcher of watchers) skip(watcher, null);
    }
  }

  /** Each by itself: what keeps one tenant's note from being renewed must not let the others' end. */
  async #noteAll(): Promise<void> {
    const { tenants } = this.#services;
    const failures: unknown[] = [];
    for (const [tenantId, { watchers }] of this.#tenants) {
      try {
        await noteWatch(tenants.of(tenantId), tenantId, this.#id);
      } catch (error) {
        if (isMisrouted(error)) for (const { sink } of watchers) sink.end();
        else failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Each by itself: a tenant's reads take turns with its own others, for which no other tenant waits. */
  #flush(failed: (error: unknown) => void): void {
    for (const [tenantId, watched] of this.#tenants) {
      if (this.#flushes.has(watched)) continue;
      const flush = this.#flushTenant(tenantId, watched)
        .catch(failed)
        .finally(() => this.#flushes.delete(watched));
      this.#flushes.set(watched, flush);
    }
  }

  async #flushTenant(tenantId: TenantId, watched: Watched): Promise<void> {
    const { waiting, omitted } = watched;
    watched.waiting = [];
    watched.omitted = 0;
    const wanted = new Map<Watcher, Added[]>();
    for (const watcher of watched.watchers) {
      const most = watcher.sink.hasRoom() ? MOST_AT_ONCE : 0;
      const { picked, skipped } = pick(waiting, watcher.filter, most);
      skip(watcher, skipped + omitted);
      wanted.set(watcher, picked);
    }
    const rows = await this.#read(tenantId, [...new Set([...wanted.values()].flat())]);
    for (const watcher of watched.watchers) {
      const picked = wanted.get(watcher) ?? [];
      if (rows === null) skip(watcher, picked.length);
      // One that is gone since is no row any more.
      this.#tell(
        watcher,
        picked.flatMap(({ id }) => rows?.get(id) ?? []),
      );
    }
  }

  /** Null where the database does not answer. */
  async #read(tenantId: TenantId, keys: readonly Added[]): Promise<Map<string, Delivery> | null> {
    const { tenants } = this.#services;
    try {
      const heads = await readDeliveryHeads(tenants.reading(tenantId), tenantId, keys);
      return new Map(heads.map((delivery) => [delivery.id, delivery]));
    } catch (error) {
      // While a tenant is moved it is refused; the next note ends its streams if it has moved.
      if (!isMisrouted(error)) this.#tellUnread(error);
      return null;
    }
  }

  #tell(watcher: Watcher, deliveries: readonly Delivery[]): void {
    const { sink, skipped } = watcher;
    const { logWatchRows } = this.#services.metrics;
    if (!sink.hasRoom()) {
      skip(watcher, deliveries.length);
      return;
    }
    if (skipped !== 0) {
      sink.skip(skipped);
      watcher.skipped = 0;
      logWatchRows.inc({ outcome: "skipped" }, skipped ?? 0);
    }
    if (deliveries.length > 0) sink.send(deliveries);
    logWatchRows.inc({ outcome: "sent" }, deliveries.length);
  }
}

function skip(watcher: Watcher, count: number | null): void {
  watcher.skipped = addSkipped(watcher.skipped, count);
}
