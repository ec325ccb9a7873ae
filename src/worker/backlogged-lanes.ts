/** The lanes of which the table has more, in turn: tenants in turn, and a tenant's lanes. */
import type { Lane, LaneTenant } from "./lane.ts";

export class BackloggedLanes {
  readonly #tenants = new Map<LaneTenant, Set<Lane>>();

  all(): Lane[] {
    return Array.from(this.#tenants.values(), (own) => [...own]).flat();
  }

  of(tenant: LaneTenant | undefined): Lane[] {
    return tenant === undefined ? [] : [...(this.#tenants.get(tenant) ?? [])];
  }

  add(lane: Lane): void {
    const own = this.#tenants.get(lane.tenant) ?? new Set();
    this.#tenants.set(lane.tenant, own.add(lane));
  }

  delete(lane: Lane): void {
    const own = this.#tenants.get(lane.tenant);
    own?.delete(lane);
    if (own?.size === 0) this.#tenants.delete(lane.tenant);
  }

  /** All others come before it and before its tenant. */
  hadTurn(lane: Lane): void {
    const own = this.#tenants.get(lane.tenant);
    if (own?.delete(lane) !== true) return;
    this.#tenants.delete(lane.tenant);
    this.#tenants.set(lane.tenant, own.add(lane));
  }

  /** A lane of each tenant, then the next of each. A tenant with thousands delays another's by no more than one of its own. */
  *inTurn(): Generator<Lane> {
    let rings = Array.from(this.#tenants.values(), (own) => Array.from(own));
    for (let place = 0; rings.length > 0; place++) {
      rings = rings.filter((ring) => place < ring.length);
      for (const ring of rings) yield* ring.slice(place, place + 1);
    }
  }
}
