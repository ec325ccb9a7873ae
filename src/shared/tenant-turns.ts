import type { TenantId } from "./id.ts";

/** Passes over the tenants for whom something waits, so that none waits behind all that another has. */
export type TenantTurns = {
  /** Whose turn it is; none where nobody waits. A new pass begins where the last has come to its end. */
  next(): Promise<TenantId[]>;
  /** Ends the turn, and answers whether another is worth a look at once. `hasMore`: more of these tenants may wait. */
  end(hasMore: boolean): boolean;
};

/** @param together so many tenants share a turn at most. */
export function makeTenantTurns(find: () => Promise<TenantId[]>, together: number): TenantTurns {
  let left: TenantId[] = [];
  let size = together;
  let isAgain = false;
  return {
    async next() {
      if (left.length === 0) {
        left = await find();
        // Of as many each, or the last of them would always have a turn alone.
        size = Math.ceil(left.length / Math.ceil(left.length / together));
        isAgain = false;
      }
      return left.splice(0, size);
    },
    end(hasMore) {
      isAgain ||= hasMore;
      return left.length > 0 || isAgain;
    },
  };
}
