/**
 * The worker's cache of endpoints' targets. Each entry is used for
 * half a second: long enough that a busy endpoint is not read for each
 * attempt, short enough that a changed URL, a rotated secret or a disabled
 * endpoint is no longer used a second later by any process.
 */
import { LRUCache } from "lru-cache";
import type { EndpointTarget } from "../endpoints/endpoint.ts";
import { openTarget, type SendTarget } from "../endpoints/send-target.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { EndpointId, EndpointKey } from "../shared/id.ts";
import type { Clock } from "../shared/clock.ts";
import type { SecretBox } from "../shared/secret-box.ts";
import { readAgain } from "./read-again.ts";

const MAX_AGE_MS = 500;
const MAX_ENTRIES = 10_000;

export type TargetCache = {
  /** Null for an endpoint that is deleted; throws SecretBoxError when its secret does not open. */
  get(key: EndpointKey): Promise<SendTarget | null>;
  /** The entry if it is fresh, without waiting; undefined when it must be loaded. */
  fresh(key: EndpointKey): SendTarget | null | undefined;
  /** This process itself changed the endpoint. */
  forget(key: EndpointKey): void;
};

export function makeTargetCache(
  loadTargets: (keys: readonly EndpointKey[]) => Promise<EndpointTarget[]>,
  secretBox: SecretBox,
  clock: Clock,
): TargetCache {
  const entries = new LRUCache<EndpointId, { target: SendTarget | null }>({
    max: MAX_ENTRIES,
    ttl: MAX_AGE_MS,
  });
  const loading = new Map<EndpointId, Promise<SendTarget | null>>();
  const loads = new GroupCommit<EndpointKey, EndpointTarget | null>(
    async (keys) => {
      const found = new Map((await loadTargets(keys)).map((target) => [target.endpointId, target]));
      return keys.map((key) => found.get(key.endpointId) ?? null);
    },
    { maxItems: 500, maxConcurrent: 2 },
    clock,
  );

  async function read(key: EndpointKey): Promise<SendTarget | null> {
    // For all who wait for this target: who asked later and read by itself would be sent first.
    const stored = await readAgain(() => loads.add(key), clock);
    return stored === null ? null : openTarget(stored, secretBox);
  }

  function load(key: EndpointKey): Promise<SendTarget | null> {
    const { endpointId } = key;
    // Else it was forgotten meanwhile, and may have been read before the change.
    const isLast = (): boolean => loading.get(endpointId) === pending;
    const pending = read(key)
      .then((target) => {
        if (isLast()) entries.set(endpointId, { target });
        return target;
      })
      .finally(() => {
        if (isLast()) loading.delete(endpointId);
      });
    loading.set(endpointId, pending);
    return pending;
  }

  return {
    fresh: (key) => entries.get(key.endpointId)?.target,
    forget({ endpointId }) {
      entries.delete(endpointId);
      loading.delete(endpointId);
    },
    async get(key) {
      const entry = entries.get(key.endpointId);
      if (entry !== undefined) return entry.target;
      return loading.get(key.endpointId) ?? load(key);
    },
  };
}
