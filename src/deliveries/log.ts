/** Reads the delivery log. An unknown id, well-formed or not, is simply not found. */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { DeliveryId, EndpointId, TenantId } from "../shared/id.ts";
import { makeFairTurns } from "../shared/fair-turns.ts";
import { firstPage } from "../shared/first-page.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Delivery, DeliveryKey, DeliveryStatus, ListedDelivery } from "./delivery.ts";
import {
  findBodies,
  findDelivery,
  findEndpointOf,
  readDeliveries,
  readDeliveryHeads,
} from "./delivery-store.ts";
import { countPending, listDeliveryIds, type Pending } from "./log-page-store.ts";
import { MAX_ROWS, searchLog } from "./search.ts";
import { rangeOf, windowsOf, type SearchFilter, type TimeFilter } from "./search-filter.ts";

/** Of the bodies that are read at once, together: as much as one event may have. A single one may be larger. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Behind so many, a page takes its time, in which it skips them in an index. */
const FAR_BACK = 10_000n;

/** A page of the log. */
export type LogPage = {
  listed: ListedDelivery[];
  /** An id: the next page begins before it, as far as a search came. Null where nothing older is left. */
  next: string | null;
};

type ExactPage = {
  status?: DeliveryStatus | undefined;
  times: TimeFilter;
  offset: bigint;
  limit: number;
};

export class DeliveryLog {
  readonly #tenants: TenantPool;
  readonly #farBack = makeFairTurns<TenantId>({ total: Infinity, share: 1 });

  constructor(tenants: TenantPool) {
    this.#tenants = tenants;
  }

  /**
   * A page of one endpoint's log, exactly, whatever it takes to skip what comes
   * before. What was not delivered may lie between any two that were: such pages
   * take turns too, and one whose caller has gone by its turn is not read.
   */
  async list(
    tenantId: TenantId,
    endpointId: EndpointId | null,
    page: ExactPage,
    gone?: AbortSignal,
  ): Promise<LogPage> {
    if (endpointId === null) return { listed: [], next: null };
    const skipsUnseen = page.status === "delivered" && page.offset > 0n;
    const read = async () =>
      gone?.aborted === true ? [] : this.#listKeys(tenantId, endpointId, { ...page, limit: page.limit + 1 });
    const keys =
      page.offset > FAR_BACK || skipsUnseen ? await this.#farBack.run(tenantId, read) : await read();
    const { rows, last } = firstPage(keys, page.limit);
    return { listed: await this.#read(tenantId, rows), next: last?.id ?? null };
  }

  async #listKeys(tenantId: TenantId, endpointId: EndpointId, page: ExactPage): Promise<DeliveryKey[]> {
    const { status, offset, limit } = page;
    const range = rangeOf(page.times);
    const ids: DeliveryId[] = [];
    for (const window of offset === 0n ? windowsOf(range, Date.now()) : [range]) {
      const left = { range: window, offset, limit: limit - ids.length };
      ids.push(
        ...(await listDeliveryIds(this.#tenants.reading(tenantId), { tenantId, endpointId }, status, left)),
      );
      if (ids.length === limit) break;
    }
    return ids.map((id) => ({ endpointId, id }));
  }

  /** As far as one request may look; see `search.ts`. Null fits nothing. */
  async search(
    tenantId: TenantId,
    filter: SearchFilter | null,
    page: { offset: bigint; limit: number; withBodies: boolean },
  ): Promise<LogPage> {
    if (filter === null) return { listed: [], next: null };
    const { limit, withBodies } = page;
    const offset = Math.min(Number(page.offset), MAX_ROWS);
    const { keys, searchedTo } = await searchLog(this.#tenants.reading(tenantId), tenantId, filter, {
      limit: offset + limit,
      nowMs: Date.now(),
    });
    const shown = keys.slice(offset);
    const listed = withBodies ? await this.#read(tenantId, shown) : await this.#readHeads(tenantId, shown);
    return { listed, next: searchedTo };
  }

  async #read(tenantId: TenantId, keys: readonly DeliveryKey[]): Promise<ListedDelivery[]> {
    return readDeliveries(this.#tenants.reading(tenantId), tenantId, { keys, maxBodyBytes: MAX_BODY_BYTES });
  }

  async #readHeads(tenantId: TenantId, keys: readonly DeliveryKey[]): Promise<ListedDelivery[]> {
    const heads = await readDeliveryHeads(this.#tenants.reading(tenantId), tenantId, keys);
    return heads.map((head) => Object.assign(head, { omittedBodyBytes: null }));
  }

  /**
   * Deliveries of one tenant with the bodies that were left out of them. These
   * are read as they are asked for, a few at a time, and nothing of the database
   * is held in between. So a body may be gone when its turn comes: then it is
   * null, as it is from then on.
   */
  async *withBodies(listed: readonly ListedDelivery[]): AsyncGenerator<Delivery> {
    const [first] = listed;
    if (first === undefined) return;
    const { tenantId } = first;
    for (const group of groupsBySize(listed)) {
      const omitted = group.filter((delivery) => delivery.omittedBodyBytes !== null);
      const bodies = await findBodies(this.#tenants.reading(tenantId), tenantId, omitted);
      for (const delivery of group) {
        yield { ...delivery, requestBody: bodies.get(delivery.id) ?? null };
        bodies.delete(delivery.id);
      }
    }
  }

  /** The endpoint that a tenant's delivery is of, or null. */
  async findEndpointOf(tenantId: TenantId, id: DeliveryId): Promise<EndpointId | null> {
    return findEndpointOf(this.#tenants.reading(tenantId), tenantId, id);
  }

  async countPending(tenantId: TenantId, endpointId: EndpointId): Promise<Pending> {
    return countPending(this.#tenants.reading(tenantId), tenantId, endpointId);
  }

  /** Of whichever of the tenant's endpoints. */
  async getById(tenantId: TenantId, id: DeliveryId | null): Promise<Delivery> {
    return this.get(tenantId, id === null ? null : await this.findEndpointOf(tenantId, id), id);
  }

  async get(tenantId: TenantId, endpointId: EndpointId | null, id: DeliveryId | null): Promise<Delivery> {
    const delivery =
      endpointId === null || id === null
        ? null
        : await findDelivery(this.#tenants.reading(tenantId), { tenantId, endpointId, id });
    if (delivery === null) throw new Refusal("not_found");
    return delivery;
  }
}

/** Of a list that is not empty: in its order, in each group as many as fit by the size of the bodies left out, and at least one. */
function* groupsBySize(listed: readonly ListedDelivery[]): Generator<ListedDelivery[]> {
  let group: ListedDelivery[] = [];
  let bytes = 0;
  for (const delivery of listed) {
    const size = delivery.omittedBodyBytes ?? 0;
    if (group.length > 0 && bytes + size > MAX_BODY_BYTES) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(delivery);
    bytes += size;
  }
  yield group;
}
