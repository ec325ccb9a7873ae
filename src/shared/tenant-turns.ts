import type { TenantId } from "./id.ts";

/** Passes over the tenants for whom something waits, so that none waits behind all that another has. */
export type TenantTurns = {
  /** Whose turn it is; none where nobody waits. A new pass begins where the last has come to its end. */
  next(): Promise<TenantId[]>;
  /** Ends the turn, and answers whether another is worth a look at once. `hasMore`: more of these tenants may wait. */
  end(hasMore: boolean): boolean;
};

/** @param together so many tenants share a turn. */
export function makeTenantTurns(find: () => Promise<TenantId[]>, together: number): TenantTurns {
  let left: TenantId[] = [];
  let isAgain = false;
  return {
    async next() {
      if (left.length === 0) {
        left = await find();
        isAgain = false;
      }
      return left.splice(0, together);
    },
    end(hasMore) {
      isAgain ||= hasMore;
      return left.length > 0 || isAgain;
    },
  };
}
