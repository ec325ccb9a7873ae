/** Reading the delivery log. An id that nobody has, well-formed or not, is simply not found. */
import type { Pool } from "../database/pool.ts";
import type { DeliveryId, EndpointId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Delivery, DeliveryFilter } from "./delivery.ts";
import { findDelivery, listDeliveries } from "./delivery-store.ts";

export type DeliveryLog = ReturnType<typeof makeDeliveryLog>;

export function makeDeliveryLog(db: Pool) {
  async function list(
    tenantId: TenantId,
    endpointId: EndpointId | null,
    page: { filter: DeliveryFilter; offset: bigint; limit: number },
  ): Promise<Delivery[]> {
    return endpointId === null ? [] : listDeliveries(db, tenantId, endpointId, page);
  }

  async function get(
    tenantId: TenantId,
    endpointId: EndpointId | null,
    id: DeliveryId | null,
  ): Promise<Delivery> {
    const delivery =
      endpointId === null || id === null ? null : await findDelivery(db, { tenantId, endpointId, id });
    if (delivery === null) throw new Refusal("not_found");
    return delivery;
  }

  return { list, get };
}
