/**
 * What a person sends: the retry of a failed delivery, and a test. Both wait
 * for the receiver's answer and log it as a delivery of its own.
 */
import { recordDone } from "../audit/audit.ts";
import type { Caller } from "../audit/audit-entry.ts";
import type { UrlRefusals } from "../audit/url-refusals.ts";
import type { Db } from "../database/pool.ts";
import { noteDelivered } from "../endpoints/endpoint-health.ts";
import { readSendTarget, type SendTarget } from "../endpoints/send-target.ts";
import type { CatalogEntry } from "../events/catalog-entry.ts";
import type { LiveCatalog } from "../events/live-catalog.ts";
import { versionFor } from "../events/subscription.ts";
import { buildRequestHeaders, maskHeaders } from "../outbound/request-headers.ts";
import { isSuccess, longBodyOf } from "../outbound/response.ts";
import type { Sender } from "../outbound/send.ts";
import {
  idTimeMs,
  newDeliveryId,
  type DeliveryId,
  type EndpointId,
  type EndpointKey,
  type EventId,
  type TenantId,
} from "../shared/id.ts";
import type { BodiesToKeep } from "../queue/queue.ts";
import { Refusal } from "../shared/refusal.ts";
import type { SecretBox } from "../shared/secret-box.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import { VERSION } from "../shared/version.ts";
import type { Delivery, NewDelivery } from "./delivery.ts";
import { insertDelivery } from "./delivery-store.ts";
import { offerToClients, type OfferServices } from "./person-offers.ts";
import {
  deletePersonSend,
  insertPersonSend,
  isEndpointErased,
  type PersonSend,
} from "./person-send-store.ts";
import type { DeliveryLog } from "./log.ts";

/** The delivery that a request of a person will be, before it is sent. */
type Intent = Omit<PersonSend, "requestHeaders" | "requestBody"> & {
  trigger: "retry" | "test";
  requestBody: string;
  deliveryLabel: string;
  webhookId: EventId | DeliveryId;
};

type Sent = {
  made: Pick<
    NewDelivery,
    | "sentAt"
    | "requestHeaders"
    | "responseStatus"
    | "responseHeaders"
    | "responseBody"
    | "latencyMs"
    | "error"
  >;
  /** The receiver answered, or a client acknowledged it. */
  isAnswered: boolean;
  isDelivered: boolean;
  /** A row of `person_sends` is to be replaced. */
  isNoted: boolean;
  toKeep: BodiesToKeep | null;
};

/** `eventType` may name a version behind `@`. `data` absent: the catalog's example. */
export type TestInput = { eventType: string; data?: unknown };

type PersonSendServices = OfferServices & {
  log: DeliveryLog;
  secretBox: SecretBox;
  sender: Sender;
  catalog: LiveCatalog;
  /** Within the transaction that logs the event as delivered: no further automatic attempt follows. */
  supersede: (db: Db, event: EndpointKey & { eventId: EventId }) => Promise<void>;
  refusals: UrlRefusals;
  artifacts: Pick<ArtifactKeeper, "choose" | "note">;
};

export class PersonSends {
  readonly #services: PersonSendServices;

  constructor(services: PersonSendServices) {
    this.#services = services;
  }

  /** Sends the failed delivery's body again; the new delivery counts as the next attempt. */
  async retry(
    caller: Caller,
    endpointId: EndpointId | null,
    originalId: DeliveryId | null,
  ): Promise<Delivery> {
    const { tenants, log, secretBox, supersede } = this.#services;
    const { tenantId } = caller;
    const original = await log.get(tenantId, endpointId, originalId);
    if (original.status !== "failed") throw new Refusal("delivery_not_failed");
    const target = await readSendTarget(tenants.of(tenantId), secretBox, original);
    if (target === null) throw new Refusal("endpoint_not_found");
    const { endpointId: ofEndpoint, eventId: ofEvent, testId, eventType, version } = original;
    const intent = {
      tenantId,
      endpointId: ofEndpoint,
      id: newDeliveryId(),
      eventId: ofEvent,
      testId,
      eventType,
      version,
      trigger: "retry" as const,
      attempt: original.attempt + 1,
      requestBody: original.requestBody ?? "{}",
    };
    const labels = { deliveryLabel: original.id, webhookId: ofEvent ?? testId ?? original.id };
    const sent = await this.#send(caller, target, { ...intent, ...labels });
    const { isDelivered } = sent;
    const delivery: NewDelivery = {
      ...intent,
      ...sent.made,
      requestBody: original.requestBody,
      status: isDelivered ? "delivered" : "failed",
    };
    await tenants.of(tenantId).transaction(async (transaction) => {
      await this.#record(transaction, delivery, sent);
      const { eventId } = original;
      if (isDelivered) await noteDelivered(transaction, original);
      if (isDelivered && eventId !== null) {
        await supersede(transaction, { tenantId, endpointId: original.endpointId, eventId });
      }
      await recordDone(transaction, caller, {
        action: "delivery.retried",
        endpointId: original.endpointId,
        details: { delivery_id: original.id, retry_id: delivery.id, status: delivery.status },
      });
    });
    return { ...delivery, replayId: null, nextAttemptAt: null };
  }

  /** What a test would send and where to; the caller has checked the data. Sends and logs nothing. */
  async composeTest(
    tenantId: TenantId,
    endpointId: EndpointId | null,
    { eventType, data }: TestInput,
  ): Promise<{ target: SendTarget; entry: CatalogEntry; body: string }> {
    const { tenants, secretBox } = this.#services;
    const catalog = this.#services.catalog.current();
    const entry = catalog.find(eventType);
    const known = entry === undefined ? undefined : catalog.types.get(entry.type);
    if (entry === undefined || known === undefined) throw new Refusal("unknown_event_type");
    const target =
      endpointId === null
        ? null
        : await readSendTarget(tenants.of(tenantId), secretBox, { tenantId, endpointId });
    if (target === null) throw new Refusal("not_found");
    const versions = { newest: known.newest.version, versions: [...known.versions.keys()] };
    if (versionFor(target.events, { type: entry.type, ...versions }) !== entry.version)
      throw new Refusal("endpoint_not_subscribed");
    const body = JSON.stringify({ event: entry.type, data: data ?? entry.payloadShape, _test: true });
    return { target, entry, body };
  }

  /** Sends the given data, or the catalog's example of the type. */
  async test(caller: Caller, endpointId: EndpointId | null, input: TestInput): Promise<Delivery> {
    const { tenants } = this.#services;
    const { tenantId } = caller;
    const { target, entry, body } = await this.composeTest(tenantId, endpointId, input);
    const { type: eventType, version } = entry;
    const id = newDeliveryId();
    const intent = {
      tenantId,
      endpointId: target.endpointId,
      id,
      eventId: null,
      testId: id,
      eventType,
      version,
      trigger: "test" as const,
      attempt: 1,
      requestBody: body,
    };
    const labels = { deliveryLabel: `test-${idTimeMs(id)}`, webhookId: id };
    const sent = await this.#send(caller, target, { ...intent, ...labels });
    const delivery: NewDelivery = {
      ...intent,
      ...sent.made,
      status: sent.isAnswered ? "test" : "failed",
    };
    await tenants.of(tenantId).transaction(async (transaction) => {
      await this.#record(transaction, delivery, sent);
      await recordDone(transaction, caller, {
        action: "endpoint.tested",
        endpointId: target.endpointId,
        details: { delivery_id: id, event_type: eventType, status: delivery.status },
      });
    });
    return { ...delivery, replayId: null, nextAttemptAt: null };
  }

  async #send(
    caller: Caller,
    target: SendTarget,
    { deliveryLabel, webhookId, ...intent }: Intent,
  ): Promise<Sent> {
    if (target.mode === "pull") return this.#offer(target, intent, deliveryLabel);
    const { tenants, sender, refusals, artifacts } = this.#services;
    const { attempt, requestBody: body, eventType, trigger: operation } = intent;
    const sentAt = new Date();
    const headers = buildRequestHeaders({
      eventType,
      deliveryLabel,
      webhookId,
      body,
      version: VERSION,
      timestampSeconds: Math.floor(sentAt.getTime() / 1000),
      signingKeys: target.signingKeys,
      staticHeaders: target.headers,
    });
    const { tenantId, keeps } = target;
    const keepsWholeBody = keeps !== null && keeps.responseBodies;
    const requestHeaders = maskHeaders(headers, target.masked);
    let isNoted = false;
    // Before the first byte leaves, so that the log has a trace of it whatever happens then.
    const onAllowed = async () => {
      const note = { ...intent, requestHeaders };
      if (!(await insertPersonSend(tenants.of(tenantId), note))) throw new Refusal("endpoint_not_found");
      isNoted = true;
    };
    const outcome = await sender.send({ url: target.url, headers, body, keepsWholeBody, onAllowed });
    if (outcome.kind === "unsafe") {
      const { endpointId, url } = target;
      await refusals.refused(caller, { endpointId, operation, url, rule: outcome.rule });
      throw new Refusal("unsafe_url");
    }
    const toKeep = artifacts.choose(keeps, { tenantId, attempt, longResponseBody: longBodyOf(outcome) });
    const answer = outcome.kind === "answered" ? outcome : null;
    const made = {
      sentAt,
      requestHeaders,
      responseStatus: answer?.status ?? null,
      responseHeaders: answer?.headers ?? null,
      responseBody: answer?.body ?? null,
      latencyMs: outcome.latencyMs,
      error: outcome.kind === "failed" ? outcome.error : null,
    };
    const isDelivered = answer !== null && isSuccess(answer.status);
    return { made, isNoted, isAnswered: answer !== null, isDelivered, toKeep };
  }

  async #offer(
    target: SendTarget,
    intent: Omit<Intent, "deliveryLabel" | "webhookId">,
    deliveryLabel: string,
  ): Promise<Sent> {
    const { artifacts } = this.#services;
    const send = { ...intent, requestHeaders: {} };
    const { isDelivered, refusal, ...offered } = await offerToClients(this.#services, send, deliveryLabel);
    const toKeep = artifacts.choose(target.keeps, {
      tenantId: target.tenantId,
      attempt: intent.attempt,
      longResponseBody: null,
    });
    const made = { ...offered, responseStatus: null, responseHeaders: null, responseBody: refusal };
    return { made, isNoted: true, isAnswered: isDelivered, isDelivered, toKeep };
  }

  /**
   * The outcome takes the place of the note. One that was ended as interrupted meanwhile stays so: the log only grows.
   * What was not noted is noted now. Of a tenant that is erased by now nothing is left, not even in the audit log.
   */
  async #record(
    transaction: Db,
    delivery: NewDelivery,
    { isNoted, toKeep }: { isNoted: boolean; toKeep: BodiesToKeep | null },
  ): Promise<void> {
    if (!isNoted && !(await insertPersonSend(transaction, delivery))) throw new Refusal("endpoint_not_found");
    if (!(await deletePersonSend(transaction, delivery))) {
      if (await isEndpointErased(transaction, delivery)) throw new Refusal("endpoint_not_found");
      return;
    }
    await insertDelivery(transaction, delivery);
    if (toKeep !== null) await this.#services.artifacts.note(transaction, delivery, toKeep);
  }
}
