import type { ApiClient } from "./api-client.ts";
import { makeProgress } from "../progress.ts";

/** The most of a request. */
const PAGE = 100;

/** What a page has, and the time back to which it looked: null where it came to the end. */
export type SearchPage<T> = { found: readonly T[]; searchedTo: string | null };

type Search<T> = {
  /** Of the API's list. */
  path: string;
  query: URLSearchParams;
  /** How many are wanted. */
  limit: number;
  read: (text: string) => SearchPage<T>;
  isQuiet?: boolean;
  /** Ends the search between two requests. */
  signal?: AbortSignal;
};

/**
 * What a list of the API has, newest first. A request looks at a part of it: it
 * is asked on until so many are found, or nothing older is left. While nothing
 * is found, it says how far it has searched.
 */
export async function* searchPages<T>(api: ApiClient, search: Search<T>): AsyncGenerator<T> {
  const { path, limit, read, isQuiet = false, signal } = search;
  const query = new URLSearchParams(search.query);
  const progress = makeProgress(isQuiet);
  try {
    for (let left = limit; left > 0;) {
      if (signal?.aborted === true) return;
      query.set("limit", String(Math.min(left, PAGE)));
      const { text, before } = await api.page(`${path}?${query.toString()}`);
      const { found, searchedTo } = read(text);
      if (found.length > 0) progress.end();
      yield* found;
      left -= found.length;
      if (before === null) return;
      if (found.length === 0) progress.show(`searched back to ${searchedTo ?? before}`);
      query.set("before", before);
    }
  } finally {
    // What is told next begins on a line of its own.
    progress.end();
  }
}
