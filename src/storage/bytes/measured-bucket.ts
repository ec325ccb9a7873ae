import type { Histogram } from "@prometheus-io/client";
import { StoreUnavailableError, type Bucket } from "./bucket.ts";

export type StorageDuration = Histogram<"operation" | "outcome">;

/** The same bucket, with the time of each operation measured: until it answers, for `get` until the bytes begin. */
export function measuredBucket(bucket: Bucket, duration: StorageDuration): Bucket {
  async function measure<T>(operation: string, work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let outcome = "ok";
    try {
      return await work;
    } catch (error) {
      outcome = error instanceof StoreUnavailableError ? "unavailable" : "error";
      throw error;
    } finally {
      duration.observe({ operation, outcome }, (performance.now() - startedAt) / 1000);
    }
  }
  return {
    ...bucket,
    put: (upload) => measure("put", bucket.put(upload)),
    head: (request) => measure("head", bucket.head(request)),
    list: (page) => measure("list", bucket.list(page)),
    get: (request) => measure("get", bucket.get(request)),
    deleteVersion: (request) => measure("delete", bucket.deleteVersion(request)),
  };
}
