/** Asking for replays, counting beforehand, following and canceling them. The worker does them. */
import { recordDone } from "../audit/audit.ts";
import type { Caller } from "../audit/audit-entry.ts";
import type { Db } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { lockSendTarget, readSendTarget, type SendTarget } from "../endpoints/send-target.ts";
import type { ReplayPage } from "../queue/once.ts";
import { newReplayId, type EndpointId, type ReplayId, type TenantId } from "../shared/id.ts";
import { issueAt, Refusal, type Issue } from "../shared/refusal.ts";
import type { SecretBox } from "../shared/secret-box.ts";
import { endOfPresent, until } from "../shared/until.ts";
import { findAccepting } from "./accepting-store.ts";
import { countCandidates, startOf, type ReplayCount } from "./count-candidates.ts";
import { MAX_REPLAY_RANGE_MS, MAX_RUNNING_REPLAYS, type Replay, type ReplayFilter } from "./replay.ts";
import {
  cancelReplay,
  findReplay,
  insertReplay,
  listReplays,
  lockRunningReplays,
  subtractSent,
} from "./replay-store.ts";

/** Longer than events are stored for at most: in parts, or behind a key that is held. */
const ACCEPTING_MS = 6000;
const RETRY_AFTER_S = 5;

export type ReplayRequest = Omit<ReplayFilter, "tenantId" | "endpointId"> & { endpointId: EndpointId | null };

export type ReplayServices = {
  tenants: TenantPool;
  secretBox: SecretBox;
  /** Takes back a replay's dispatches that no worker has; answers how many. */
  removeDispatches: (db: Db, replay: Omit<ReplayPage, "events">) => Promise<number>;
};

export class Replays {
  readonly #services: ReplayServices;

  constructor(services: ReplayServices) {
    this.#services = services;
  }

  /** What a replay would send now. */
  async count(tenantId: TenantId, asked: ReplayRequest): Promise<ReplayCount> {
    const { filter, target } = await this.#look(tenantId, asked);
    return countCandidates(this.#services.tenants.reading(tenantId), filter, target.events);
  }

  async request(caller: Caller, asked: ReplayRequest): Promise<Replay> {
    const { tenants, secretBox } = this.#services;
    const { tenantId } = caller;
    const { filter, target } = await this.#look(tenantId, asked);
    const { endpointId, from, to, selection, eventType, cause } = filter;
    // Counting may take seconds, so refuse before it.
    await tenants.of(tenantId).transaction((transaction) => requireRoom(transaction, filter));
    const areAccepted = selection === "failed" ? null : await endOfAccepting(tenants.of(tenantId));
    const counted = await countCandidates(tenants.reading(tenantId), filter, target.events);
    if (areAccepted !== null) await untilAccepted(areAccepted);
    const id = newReplayId();
    await tenants.of(tenantId).transaction(async (transaction) => {
      await requireRoom(transaction, filter);
      requireSendable(await lockSendTarget(transaction, secretBox, filter));
      const { count, isCapped } = counted;
      await insertReplay(transaction, { ...filter, id, counted: count, isCapped, before: startOf(filter) });
      await recordDone(transaction, caller, {
        action: "replay.requested",
        endpointId,
        details: {
          replay_id: id,
          from: from.toISOString(),
          to: to.toISOString(),
          select: selection,
          event_type: eventType,
          cause,
          count,
        },
      });
    });
    return this.get(tenantId, id);
  }

  async get(tenantId: TenantId, id: ReplayId | null): Promise<Replay> {
    const db = this.#services.tenants.reading(tenantId);
    const replay = id === null ? null : await findReplay(db, tenantId, id);
    if (replay === null) throw new Refusal("not_found");
    return replay;
  }

  async list(tenantId: TenantId, page: Parameters<typeof listReplays>[2]): Promise<Replay[]> {
    return listReplays(this.#services.tenants.reading(tenantId), tenantId, page);
  }

  /** Attempts that a worker has taken are still made. */
  async cancel(caller: Caller, id: ReplayId | null): Promise<Replay> {
    const { tenants, removeDispatches } = this.#services;
    const { tenantId } = caller;
    const { id: replayId, endpointId } = await this.get(tenantId, id);
    await tenants.of(tenantId).transaction(async (transaction) => {
      if (!(await cancelReplay(transaction, tenantId, replayId))) throw new Refusal("replay_not_running");
      const removed = await removeDispatches(transaction, { tenantId, endpointId, replayId });
      await subtractSent(transaction, tenantId, replayId, removed);
      const details = { replay_id: replayId };
      await recordDone(transaction, caller, { action: "replay.canceled", endpointId, details });
    });
    return this.get(tenantId, replayId);
  }

  /** The range as given, and the endpoint, which must be able to receive. */
  async #look(
    tenantId: TenantId,
    asked: ReplayRequest,
  ): Promise<{ filter: ReplayFilter; target: SendTarget }> {
    const { tenants, secretBox } = this.#services;
    const now = new Date();
    // Events to come are sent anyway.
    const to = asked.to < now ? asked.to : now;
    requireRange(asked.from, to);
    const { endpointId } = asked;
    if (endpointId === null) throw new Refusal("endpoint_not_found");
    const key = { tenantId, endpointId };
    const target = requireSendable(await readSendTarget(tenants.of(tenantId), secretBox, key));
    return { filter: { ...asked, ...key, to }, target };
  }
}

/**
 * Answers how to ask whether all events are there that are being stored now. The endpoint
 * may get none of them, as one that was made since, and no page would have one that is
 * stored behind it. What is stored from now on goes to the endpoint by itself.
 */
function endOfAccepting(db: Db): Promise<() => Promise<boolean>> {
  return endOfPresent(() => findAccepting(db));
}

async function untilAccepted(areAccepted: () => Promise<boolean>): Promise<void> {
  if (await until(areAccepted, performance.now() + ACCEPTING_MS)) return;
  const cause = new Error("events that were being stored are not committed yet");
  throw new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S, cause });
}

/** Other requests of the tenant wait until the transaction ends. */
async function requireRoom(transaction: Db, { tenantId, endpointId }: ReplayFilter): Promise<void> {
  const running = await lockRunningReplays(transaction, tenantId);
  if (running.includes(endpointId)) throw new Refusal("replay_running");
  if (running.length >= MAX_RUNNING_REPLAYS) throw new Refusal("replay_limit_reached");
}

function requireSendable(target: SendTarget | null): SendTarget {
  if (target === null) throw new Refusal("endpoint_not_found");
  if (!target.enabled) throw new Refusal("endpoint_disabled");
  return target;
}

function requireRange(from: Date, to: Date): void {
  const issues: Issue[] = [];
  if (from >= to) issues.push(issueAt("from", "must be before to, and in the past"));
  if (to.getTime() - from.getTime() > MAX_REPLAY_RANGE_MS)
    issues.push(issueAt("to", "must be within 31 days"));
  if (issues.length > 0) throw new Refusal("validation_failed", { issues });
}
