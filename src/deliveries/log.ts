/** Reading the delivery log. An id that nobody has, well-formed or not, is simply not found. */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { DeliveryId, EndpointId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Delivery, DeliveryFilter } from "./delivery.ts";
import { findDelivery, listDeliveries } from "./delivery-store.ts";

export type DeliveryLog = ReturnType<typeof makeDeliveryLog>;

export function makeDeliveryLog(tenants: TenantPool) {
  async function list(
    tenantId: TenantId,
    endpointId: EndpointId | null,
    page: { filter: DeliveryFilter; offset: bigint; limit: number },
  ): Promise<Delivery[]> {
    return endpointId === null ? [] : listDeliveries(tenants.of(tenantId), tenantId, endpointId, page);
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

  return { list, get };
}
