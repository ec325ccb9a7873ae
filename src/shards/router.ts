/** Brings work for a tenant to the parts of its shard. */
import type { TenantId } from "../shared/id.ts";
import type { Directory } from "./directory.ts";
import type { Pulse } from "./pulse.ts";
import { whileMoving } from "./while-moving.ts";

export type Router<Part> = {
  home(this: void, tenantId: TenantId): Promise<Part>;
  /** Does the work; again where the shard refuses it, since the tenant moves or has moved. */
  atHome<T>(this: void, tenantId: TenantId, work: (part: Part) => Promise<T>): Promise<T>;
};

export function makeRouter<Part extends { pulse: Pick<Pulse, "guard"> }>(
  directory: Directory,
  parts: ReadonlyMap<string, Part>,
): Router<Part> {
  async function home(tenantId: TenantId): Promise<Part> {
    const { shard } = await directory.find(tenantId);
    const part = parts.get(shard);
    if (part === undefined) throw new Error(`the directory answers the shard ${shard}, which has no parts`);
    return part;
  }
  return {
    home,
    async atHome(tenantId, work) {
      const once = async () => {
        const part = await home(tenantId);
        return part.pulse.guard(() => work(part));
      };
      return whileMoving(once, () => directory.forget(tenantId));
    },
  };
}
