/**
 * Carries one dispatch from its lane to its recorded outcome. A dispatch that
 * cannot be sent now returns to its lane or to the queue. Nothing here rejects.
 */
import { isPassing } from "../database/passing-errors.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import type { CompletedAttempt, LeasedDispatch, Presence } from "../queue/queue.ts";
import type { Clock } from "../shared/clock.ts";
import type { EndpointId } from "../shared/id.ts";
import { SecretBoxError } from "../shared/secret-box.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import { makeAftermath, type Aftermath, type AftermathServices } from "./aftermath.ts";
import { endpointDeleted, eventGone, makeAttempt, type AttemptServices } from "./attempt.ts";
import { POLL_MS } from "./claims.ts";
import type { Lanes } from "./lanes.ts";
import type { Outcomes } from "./outcomes.ts";
import type { Returns } from "./returns.ts";
import type { TargetCache } from "./target-cache.ts";
import type { SlotKeeper } from "./slot-keeper.ts";
import { UnusableSecrets } from "./unusable-secrets.ts";
import { SLOW_ATTEMPT_MS } from "./width.ts";

/** An attempt starts only with this much of its lease left: the longest attempt, and a margin to record it. */
const LEASE_RESERVE_MS = 25_000;

export type CarryOutServices = AftermathServices &
  AttemptServices & { targets: TargetCache; presence: Presence; clock: Clock };

type Around = {
  lanes: Lanes;
  slots: Pick<SlotKeeper, "owns">;
  outcomes: Outcomes;
  returns: Returns;
  /** Starts the attempts that may start now. */
  pump: () => void;
  /** Claims due dispatches now. */
  wake: () => void;
};

/** Where a dispatch is after it left its lane. */
type Whereabouts =
  | { kind: "over"; completed: CompletedAttempt }
  | { kind: "in line again" }
  | { kind: "returned"; reason: "late" | "unseen" | "moved" }
  | { kind: "held" };

export class CarryOut {
  readonly #services: CarryOutServices;
  readonly #around: Around;
  readonly #aftermath: Aftermath;
  readonly #unusableSecrets: UnusableSecrets;
  readonly #tellOfDatabase: ReturnType<typeof warnSeldom>;

  constructor(services: CarryOutServices, around: Around) {
    this.#services = services;
    this.#around = around;
    this.#aftermath = makeAftermath(services);
    this.#unusableSecrets = new UnusableSecrets(services.clock);
    this.#tellOfDatabase = warnSeldom(
      services.log,
      "an attempt, or the record of its outcome, failed at the database; the attempt is made again later",
    );
  }

  /** Of how many endpoints the signing secret did not open of late. */
  unusableSecrets(): number {
    return this.#unusableSecrets.count();
  }

  async attempt(dispatch: LeasedDispatch): Promise<void> {
    const { returns } = this.#around;
    try {
      // The lane continues when the attempt is over, before its outcome is recorded.
      const where = await this.#inLane(dispatch);
      if (where.kind === "over") await this.#record(where.completed);
      if (where.kind === "returned") await returns.release([dispatch], "claimable", where.reason);
      if (where.kind === "held") await returns.hold(dispatch);
    } catch (error) {
      this.#failed(dispatch, error);
    }
  }

  #failed({ tenantId, endpointId, id }: LeasedDispatch, error: unknown): void {
    const { log, metrics } = this.#services;
    const isOfSecret = error instanceof SecretBoxError;
    const isOfDatabase = isPassing(error);
    const reason = isOfSecret ? "secret" : isOfDatabase ? "database" : "internal";
    metrics.attemptsTotal.inc({ outcome: "error", reason });
    if (isOfDatabase) return this.#tellOfDatabase(error, { tenantId, endpointId, deliveryId: id });
    if (isOfSecret && !this.#unusableSecrets.meet(endpointId)) return;
    log.error(
      { err: error, tenantId, endpointId, deliveryId: id },
      "an attempt or the record of its outcome failed inside Postern; the attempt is made again later",
    );
  }

  /** This should never happen. If it does, the dispatch must not block other claims. */
  async endWithoutEvent(dispatch: LeasedDispatch): Promise<void> {
    const { log, metrics } = this.#services;
    const { tenantId, endpointId, id, eventId } = dispatch;
    log.error(
      { tenantId, endpointId, deliveryId: id, eventId },
      "the event of a due dispatch is gone; its delivery ends",
    );
    metrics.attemptsTotal.inc({ outcome: "error", reason: "internal" });
    await this.#around.outcomes
      .record(eventGone(dispatch))
      .catch((error: unknown) =>
        log.error({ err: error, deliveryId: id }, "cannot record that a delivery ended without its event"),
      );
  }

  /** Resumes an endpoint that its rate limit pauses. */
  resumeAt(endpointId: EndpointId, untilMs: number): void {
    const { clock } = this.#services;
    const { lanes, pump } = this.#around;
    clock.after(Math.max(1, untilMs - clock.nowMs()), () => {
      lanes.turnCame(endpointId, clock.nowMs());
      pump();
    });
  }

  async #inLane(dispatch: LeasedDispatch): Promise<Whereabouts> {
    const { lanes, pump } = this.#around;
    const { clock } = this.#services;
    let where: Whereabouts | null = null;
    try {
      where = await this.#send(dispatch);
      return where;
    } finally {
      if (where?.kind === "over") {
        lanes.finished(dispatch, where.completed.latencyMs > SLOW_ATTEMPT_MS, clock.nowMs());
      } else if (where?.kind !== "in line again") {
        lanes.returned(dispatch, clock.nowMs());
      }
      pump();
    }
  }

  async #send(dispatch: LeasedDispatch): Promise<Whereabouts> {
    const { targets, presence, clock } = this.#services;
    const lock = this.#around.outcomes.lockOf(dispatch.endpointId);
    if (lock !== undefined) await lock;
    const known = targets.fresh(dispatch);
    const target = known === undefined ? await targets.get(dispatch) : known;
    if (!presence.isConfirmed() || !presence.covers(dispatch)) return { kind: "returned", reason: "unseen" };
    // Its slot went to another worker, which starts attempts at once.
    if (!this.#around.slots.owns(dispatch.endpointId)) return { kind: "returned", reason: "moved" };
    if (dispatch.leaseEndsMs - clock.nowMs() < LEASE_RESERVE_MS) return { kind: "returned", reason: "late" };
    if (target === null) return { kind: "over", completed: endpointDeleted(dispatch) };
    if (!target.enabled || target.mode === "pull") return { kind: "held" };
    if (this.#mustWait(dispatch, target)) return { kind: "in line again" };
    const result = await makeAttempt(dispatch, target, this.#services);
    await this.#aftermath(target, result);
    return { kind: "over", completed: result.completed };
  }

  #mustWait(dispatch: LeasedDispatch, target: SendTarget): boolean {
    const nowMs = this.#services.clock.nowMs();
    const waitMs = this.#around.lanes.keepRate(dispatch, target.rateLimit, nowMs);
    if (waitMs > 0) this.resumeAt(dispatch.endpointId, nowMs + waitMs);
    return waitMs > 0;
  }

  async #record(completed: CompletedAttempt): Promise<void> {
    const { log, clock } = this.#services;
    const { outcomes, wake } = this.#around;
    if (!(await outcomes.record(completed))) {
      const { tenantId, endpointId, id } = completed.dispatch;
      log.warn(
        { tenantId, endpointId, deliveryId: id },
        "the outcome was not recorded: the dispatch had ended or passed to another worker",
      );
      return;
    }
    const { nextDelayMs } = completed;
    if (nextDelayMs !== null && nextDelayMs < POLL_MS) clock.after(nextDelayMs, wake);
  }
}
