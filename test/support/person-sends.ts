/** What sends for a person, with a real database and a real receiver, and what a test asks of both. */
import { writeFile } from "node:fs/promises";
import { after, before, beforeEach, type TestContext } from "node:test";
import { makeUrlRefusals } from "../../src/audit/url-refusals.ts";
import type { NewDelivery } from "../../src/deliveries/delivery.ts";
import { insertDelivery } from "../../src/deliveries/delivery-store.ts";
import { DeliveryLog } from "../../src/deliveries/log.ts";
import { PersonSends } from "../../src/deliveries/send-by-person.ts";
import { insertEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { sealSigningSecret } from "../../src/endpoints/signing-secret.ts";
import { changeHeaders, NO_HEADERS } from "../../src/endpoints/static-headers.ts";
import { openCatalog, type LiveCatalog } from "../../src/events/live-catalog.ts";
import { FetchWaits } from "../../src/queue/fetch-waits.ts";
import { newEventId, type EndpointId } from "../../src/shared/id.ts";
import { makeSecretBox } from "../../src/shared/secret-box.ts";
import { insertBodies } from "../../src/storage/artifacts/kept-body-store.ts";
import { makeLog } from "../../src/telemetry/log.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { senderFor, type SenderSetup } from "./sender.ts";
import { SteeredTenants } from "./steered-tenants.ts";
import { logged, newEndpoint } from "./store-inputs.ts";
import { temporaryPath } from "./temporary.ts";
import { openTenantPool } from "./tenant-pool.ts";
import { startReceiver, type Answer, type TlsReceiver } from "./tls-receiver.ts";
import { ADA, EVENT_TYPE } from "./two-tenants.ts";

const { tenantId } = ADA;
const secretBox = makeSecretBox([Buffer.alloc(32, 1)]);
const quiet = makeLog("silent");

/** For a test file. Its catalog has two versions of {@link EVENT_TYPE}, each with its number as example. */
export class PersonSendsAtHand {
  database!: TestDatabase;
  receiver!: TlsReceiver;
  tenants!: SteeredTenants;
  answer: () => Promise<Answer | undefined> = async () => ({});
  /** Events whose further automatic attempts were called off. */
  superseded: unknown[] = [];
  #waits!: FetchWaits;
  #catalog!: LiveCatalog;

  constructor() {
    before(() => this.#start());
    beforeEach(() => this.#reset());
    after(() => this.#stop());
  }

  make(test: TestContext, setup: SenderSetup = {}, attemptTimeoutMs = 15_000): PersonSends {
    return new PersonSends({
      tenants: this.tenants,
      waits: this.#waits,
      attemptTimeoutMs,
      log: new DeliveryLog(this.tenants),
      secretBox,
      sender: senderFor(test, this.receiver.caPem, setup),
      catalog: this.#catalog,
      supersede: async (_db, event) => void this.superseded.push(event),
      refusals: makeUrlRefusals({ tenants: this.tenants, log: quiet }),
      artifacts: {
        choose: (keeps, { longResponseBody: responseBody }) =>
          keeps && { requestBody: keeps.requestBodies, responseBody, days: keeps.days },
        note: insertBodies,
      },
    });
  }

  /** The receiver gets the request, and no answer comes of it. */
  dropRequests(): void {
    this.answer = async () => {
      this.receiver.dropConnections();
      return undefined;
    };
  }

  async createEndpoint(
    given: { url?: string; events?: string[]; mode?: "push" | "pull" } = {},
  ): Promise<EndpointId> {
    const endpoint = { ...newEndpoint({ tenantId }), url: this.receiver.url, ...given };
    const key = { tenantId, endpointId: endpoint.id };
    const secret = sealSigningSecret(secretBox, "a-secret-of-acme", key);
    const stored = changeHeaders(secretBox, key, NO_HEADERS, {
      headers: { "X-Team": "billing", "X-Key": "hidden" },
      masked_headers: ["X-Key"],
    });
    await insertEndpoint(this.database.pool, { ...endpoint, secret, stored });
    return endpoint.id;
  }

  /** An attempt that failed. */
  async addFailed(endpointId: EndpointId, given: Partial<NewDelivery> = {}): Promise<NewDelivery> {
    const row = logged({ tenantId, endpointId, eventId: newEventId() });
    const delivery = { ...row, requestBody: '{"a":1}', ...given };
    await insertDelivery(this.database.pool, delivery);
    return delivery;
  }

  /** Which bodies the tenant keeps. */
  async keep(which: { requests: boolean; responses: boolean }): Promise<void> {
    await this.database.pool.query(
      `INSERT INTO postern.tenant_settings (tenant_id, keep_request_bodies, keep_response_bodies, artifact_days)
        VALUES ($1, $2, $3, 7)
        ON CONFLICT (tenant_id) DO UPDATE SET keep_request_bodies = $2, keep_response_bodies = $3`,
      [tenantId, which.requests, which.responses],
    );
  }

  async rowsOf(columns: string, table: string, id?: { column: string; is: string }) {
    const where = id === undefined ? "true" : `${id.column} = '${id.is}'`;
    return (await this.database.pool.query(`SELECT ${columns} FROM postern.${table} WHERE ${where}`)).rows;
  }

  async #start(): Promise<void> {
    this.database = await createTestDatabase();
    this.tenants = new SteeredTenants(openTenantPool(this.database, 3));
    this.#waits = new FetchWaits({ databaseUrl: this.database.url, log: quiet });
    this.receiver = await startReceiver({ respond: () => this.answer() });
    const about = { type: EVENT_TYPE, title: "T", description: "D", group: "G" };
    const file = temporaryPath("catalog.json");
    const entries = [
      { ...about, version: 1, payloadShape: { version: 1 } },
      { ...about, version: 2, payloadShape: { version: 2 } },
    ];
    await writeFile(file, JSON.stringify(entries));
    this.#catalog = await openCatalog(file);
  }

  async #reset(): Promise<void> {
    this.superseded = [];
    this.tenants.reset();
    this.receiver.requests.length = 0;
    this.answer = async () => ({ body: "thanks" });
    await this.database.pool.query(
      "DELETE FROM postern.audit_log; DELETE FROM postern.bodies_to_keep; DELETE FROM postern.tenant_settings",
    );
  }

  async #stop(): Promise<void> {
    await this.#waits.close();
    await this.receiver.close();
    await this.tenants.end();
    await this.database.drop();
  }
}
