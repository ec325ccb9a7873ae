/**
 * Names to addresses, by DNS queries of our own.
 *
 * Never `dns.lookup`: it occupies threads that file access needs too (a few
 * silent names stall every other look-up), tries search domains, and reads odd
 * IPv4 spellings. A and AAAA are asked at once. What one family leaves open
 * within the time limit is not waited for: an unresolved address is not dialled.
 *
 * For development, `fixedNames` and `hostsFile` answer before DNS does. The
 * guard sets them only when the operator opened private ranges.
 */
import { promises as dns, type RecordWithTtl } from "node:dns";
import { readFile } from "node:fs/promises";
import { codeOf } from "../shared/error-code.ts";

export type Lookup =
  | { kind: "found"; addresses: readonly string[] }
  /** `code` is the resolver's: ENOTFOUND, ENODATA, ESERVFAIL, ETIMEOUT, … */
  | { kind: "not_found"; code: string };

export type NameResolver = {
  /** The cached answer, when there is one that has not run out. */
  peek(name: string): Lookup | undefined;
  /** The cached answer or a new one. Concurrent look-ups of one name share their queries. Never rejects. */
  resolve(name: string): Promise<Lookup>;
  /** Ends look-ups under way; they come out as not found. */
  close(): void;
};

export type ResolverOptions = {
  /** Name servers as `ip:port` or `ip`; absent or empty: the system's. */
  servers?: readonly string[];
  /** Lower-case names answered without asking anyone. */
  fixedNames?: ReadonlyMap<string, readonly string[]>;
  /** A file in the format of /etc/hosts, read again at each uncached look-up. */
  hostsFile?: string;
  limits?: Partial<ResolverLimits>;
};

export type ResolverLimits = {
  /** For A and AAAA together. */
  lookupTimeoutMs: number;
  queryTimeoutMs: number;
  queryTries: number;
  /** An answer is kept for its TTL, within these two. */
  minTtlMs: number;
  maxTtlMs: number;
  /** How long "no such name" and failures are kept. */
  negativeTtlMs: number;
  maxCachedNames: number;
};

export const RESOLVER_LIMITS: ResolverLimits = {
  lookupTimeoutMs: 3_000,
  queryTimeoutMs: 1_000,
  queryTries: 2,
  minTtlMs: 1_000,
  maxTtlMs: 30_000,
  negativeTtlMs: 1_000,
  maxCachedNames: 10_000,
};

type Entry = { lookup: Lookup; expiresAtMs: number };
type FamilyAnswer = { records: readonly RecordWithTtl[]; code: string };

/** Throws an Error when a server's address cannot be parsed. */
export function makeResolver(options: ResolverOptions = {}): NameResolver {
  const limits = { ...RESOLVER_LIMITS, ...options.limits };
  const resolver = new dns.Resolver({ timeout: limits.queryTimeoutMs, tries: limits.queryTries });
  if (options.servers !== undefined && options.servers.length > 0) resolver.setServers(options.servers);
  const cache = new Map<string, Entry>();
  const underWay = new Map<string, Promise<Lookup>>();

  async function lookUp(name: string): Promise<Lookup> {
    const { lookup, ttlMs } = (await localAnswer(name, options)) ?? (await query(resolver, name, limits));
    store(name, { lookup, expiresAtMs: performance.now() + ttlMs });
    return lookup;
  }

  function store(name: string, entry: Entry): void {
    cache.delete(name);
    if (cache.size >= limits.maxCachedNames) {
      for (const oldest of cache.keys()) {
        cache.delete(oldest);
        break;
      }
    }
    cache.set(name, entry);
  }

  function peek(name: string): Lookup | undefined {
    const entry = cache.get(name);
    return entry !== undefined && entry.expiresAtMs > performance.now() ? entry.lookup : undefined;
  }

  return {
    peek,
    resolve(name) {
      const cached = peek(name);
      if (cached !== undefined) return Promise.resolve(cached);
      const shared = underWay.get(name);
      if (shared !== undefined) return shared;
      const started = lookUp(name).finally(() => underWay.delete(name));
      underWay.set(name, started);
      return started;
    },
    close() {
      resolver.cancel();
    },
  };
}

type TimedLookup = { lookup: Lookup; ttlMs: number };

async function localAnswer(name: string, options: ResolverOptions): Promise<TimedLookup | undefined> {
  const fixed = options.fixedNames?.get(name) ?? (await hostsFileAnswer(name, options.hostsFile));
  if (fixed === undefined || fixed.length === 0) return undefined;
  return { lookup: { kind: "found", addresses: fixed }, ttlMs: 1_000 };
}

async function hostsFileAnswer(name: string, file: string | undefined): Promise<string[] | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return address !== undefined && names.some((other) => other.toLowerCase() === name) ? [address] : [];
  });
}

async function query(resolver: dns.Resolver, name: string, limits: ResolverLimits): Promise<TimedLookup> {
  const answers: FamilyAnswer[] = [];
  const keep = (answer: FamilyAnswer): void => {
    answers.push(answer);
  };
  const both = Promise.all([
    resolver
      .resolve4(name, { ttl: true })
      .then((records) => ({ records, code: "" }), failedAnswer)
      .then(keep),
    resolver
      .resolve6(name, { ttl: true })
      .then((records) => ({ records, code: "" }), failedAnswer)
      .then(keep),
  ]);
  await withLimit(both, limits.lookupTimeoutMs);

  const records = answers.flatMap((answer) => answer.records);
  if (records.length === 0) {
    const code = answers.find((answer) => answer.code !== "")?.code ?? "ETIMEOUT";
    return { lookup: { kind: "not_found", code }, ttlMs: limits.negativeTtlMs };
  }
  const shortestTtlMs = Math.min(...records.map((record) => record.ttl)) * 1_000;
  return {
    lookup: { kind: "found", addresses: [...new Set(records.map((record) => record.address))] },
    ttlMs: Math.min(Math.max(shortestTtlMs, limits.minTtlMs), limits.maxTtlMs),
  };
}

function failedAnswer(error: unknown): FamilyAnswer {
  return { records: [], code: codeOf(error) || "EUNKNOWN" };
}

async function withLimit(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
