/** What the page asks again by itself, and what it reads anew after a change. */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { loadModule } from "./support/page.ts";

type Options = {
  queryKey: readonly string[];
  queryFn: () => unknown;
  meta?: Record<string, unknown>;
  staleTime?: number;
};
type Mutation = { execute: (variables: unknown) => Promise<unknown> };
type QueryClient = {
  fetchQuery: (options: Options) => Promise<unknown>;
  getQueryState: (key: readonly string[]) => { isInvalidated: boolean } | undefined;
  getMutationCache: () => {
    build: (client: QueryClient, options: { mutationFn: () => Promise<unknown> }) => Mutation;
  };
  getDefaultOptions: () => {
    queries: {
      retry: (count: number, error: unknown) => boolean;
      retryDelay: (count: number) => number;
      networkMode: string;
    };
  };
  clear: () => void;
};

const { queryClient } = await loadModule<{ queryClient: QueryClient }>("api/query-client.ts");
const { ApiError } = await loadModule<{ ApiError: new (status: number, body: unknown) => Error }>(
  "api/client.ts",
);

afterEach(() => queryClient.clear());

/** Which of two queries are read anew after a change, of which one stays as it is. */
async function readAnewAfter(mutationFn: () => Promise<unknown>) {
  const still = { queryKey: ["still"], queryFn: () => 1, meta: { isStill: true } };
  await Promise.all([
    queryClient.fetchQuery(still),
    queryClient.fetchQuery({ queryKey: ["page"], queryFn: () => 1 }),
  ]);
  await queryClient
    .getMutationCache()
    .build(queryClient, { mutationFn })
    .execute(null)
    .catch(() => null);
  return ["still", "page"].filter((key) => queryClient.getQueryState([key])?.isInvalidated === true);
}

describe("after a change", () => {
  it("what is shown is read anew, but for what stays as it is", async () => {
    assert.deepEqual(await readAnewAfter(async () => "done"), ["page"]);
  });

  it("that was refused for what is so no more, all is read anew too, and after no other failure", async () => {
    for (const [status, expected] of [
      [400, ["page"]],
      [404, ["page"]],
      [409, ["page"]],
      [0, []],
      [403, []],
      [429, []],
      [500, []],
      [503, []],
    ] as const) {
      const failed = readAnewAfter(() => Promise.reject(new ApiError(status, {})));
      assert.deepEqual(await failed, expected, String(status));
    }
    assert.deepEqual(await readAnewAfter(() => Promise.reject(new Error("of the page itself"))), []);
  });
});

describe("a service that is away", () => {
  const { retry, retryDelay, networkMode } = queryClient.getDefaultOptions().queries;

  it("is asked again until it is back, also where the browser thinks itself offline, and any other no is taken", () => {
    for (const status of [0, 502, 503, 504]) assert.ok(retry(1000, new ApiError(status, {})), String(status));
    for (const status of [400, 401, 403, 404, 429, 500])
      assert.ok(!retry(0, new ApiError(status, {})), String(status));
    assert.ok(!retry(0, new TypeError("of the page itself")));
    assert.equal(networkMode, "always");
  });

  it("is asked less and less often, down to once in ten seconds", () => {
    assert.deepEqual([0, 1, 2, 3, 4, 1000].map(retryDelay), [1000, 2000, 4000, 8000, 10_000, 10_000]);
  });
});
