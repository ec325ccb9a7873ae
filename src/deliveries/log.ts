/** Reading the delivery log. An id that nobody has, well-formed or not, is simply not found. */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { DeliveryId, EndpointId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Delivery, DeliveryFilter, ListedDelivery } from "./delivery.ts";
import { findBodies, findDelivery, listDeliveries } from "./delivery-store.ts";

/** Of the bodies that are read at once, together: as much as one event may have. A single one may be larger. */
const MAX_BODY_BYTES = 1024 * 1024;

export type DeliveryLog = ReturnType<typeof makeDeliveryLog>;

export function makeDeliveryLog(tenants: TenantPool) {
  async function list(
    tenantId: TenantId,
    endpointId: EndpointId | null,
    page: { filter: DeliveryFilter; offset: bigint; limit: number },
  ): Promise<ListedDelivery[]> {
    if (endpointId === null) return [];
    const bounded = { ...page, maxBodyBytes: MAX_BODY_BYTES };
    return listDeliveries(tenants.of(tenantId), tenantId, endpointId, bounded);
  }

  /**
   * One endpoint's deliveries with the bodies that were left out of them. These
   * are read as they are asked for, a few at a time, and nothing of the database
   * is held in between. So a body may be gone when its turn comes: then it is
   * null, as it is from then on.
   */
  async function* withBodies(listed: readonly ListedDelivery[]): AsyncGenerator<Delivery> {
    const [first] = listed;
    if (first === undefined) return;
    const { tenantId, endpointId } = first;
    for (const group of groupsBySize(listed)) {
      const ids = group.filter((delivery) => delivery.omittedBodyBytes !== null).map(({ id }) => id);
      const bodies = await findBodies(tenants.of(tenantId), { tenantId, endpointId, ids });
      for (const delivery of group) {
        yield { ...delivery, requestBody: bodies.get(delivery.id) ?? null };
        bodies.delete(delivery.id);
      }
    }
  }

  async function get(
    tenantId: TenantId,
    endpointId: EndpointId | null,
    id: DeliveryId | null,
  ): Promise<Delivery> {
    const delivery =
      endpointId === null || id === null
        ? null
        : await findDelivery(tenants.of(tenantId), { tenantId, endpointId, id });
    if (delivery === null) throw new Refusal("not_found");
    return delivery;
  }

  return { list, withBodies, get };
}

/** In their order, as many as fit by the bodies that they left out, and at least one. */
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
  if (group.length > 0) yield group;
}
