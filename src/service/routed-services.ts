/** What the HTTP edge calls where there are several databases: each call goes to the shard of its tenant. */
import type { CallTally } from "../audit/audit-tally.ts";
import type { Readiness } from "../api/readiness.ts";
import type { ApiServices } from "../api/services.ts";
import { makeSessionVerifier } from "../api/session.ts";
import type { Publisher } from "../events/publish.ts";
import { makeOwnTokens } from "../portal/own-tokens.ts";
import { ALL_TENANTS } from "../portal/portal-session.ts";
import type { Db } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import type { PersonSends } from "../deliveries/send-by-person.ts";
import type { Router } from "../shards/router.ts";
import { isBeingMoved } from "../shards/directory-store.ts";
import { makeShardedTenants } from "../shards/sharded-tenants.ts";
import { waitWhileMoving } from "../shards/while-moving.ts";
import { askAll, findTwice, mergeCounts, mergeReports, mergeTenants } from "../shards/merge.ts";
import { together } from "../shared/ending.ts";
import type { TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { exposeMetrics } from "../telemetry/exposition.ts";
import { makePersonSends, makeTenantServices } from "./api-parts.ts";
import type { ProcessParts } from "./process-parts.ts";
import type { ServiceOptions } from "./service-options.ts";
import type { ShardParts } from "./one-shard.ts";

type Routing = {
  router: Router<ShardParts>;
  /** The first keeps what is no tenant's. */
  shards: readonly ShardParts[];
  process: ProcessParts;
  publisher: Publisher;
};

export function makeRoutedServices(options: ServiceOptions, routing: Routing): ApiServices {
  const { router, shards, process, publisher } = routing;
  const [first] = shards;
  if (first === undefined) throw new Error("there is no shard");
  const { metrics } = process;
  const tenants = makeShardedTenants({
    atHome: (tenantId, work) => router.atHome(tenantId, ({ parts }) => work(parts.pools.residents)),
  });
  return {
    // What is the process's is alike in each.
    ...first.api,
    ...makeTenantServices(options, first.parts, {
      tenants,
      queue: {
        endpointChanged: (endpoint) =>
          router.atHome(endpoint.tenantId, ({ parts }) => parts.queue.endpointChanged(endpoint)),
      },
    }),
    ...boundToShard(routing),
    personSends: personSendsOf(options, routing, tenants),
    ...portalOf(options, routing, first),
    tenants: tenantsOf(routing, first),
    findKey: (tenantId, key) => whereItLives(router, tenantId, ({ api }) => api.findKey(tenantId, key)),
    publisher,
    servedFiles: servedFilesOf(shards),
    log: options.log,
    metrics,
    exposeMetrics: () =>
      exposeMetrics(
        metrics,
        shards.map(({ parts }) => parts.metrics),
      ),
    auditTally: auditTallyOf(options, routing, first),
    readiness: readinessOf(shards),
  };
}

/** For work whose own statements don't ask whether the tenant lives there: it may have moved since this process knew. */
function whereItLives<T>(
  router: Routing["router"],
  tenantId: TenantId,
  work: (shard: ShardParts) => Promise<T>,
): Promise<T> {
  return router.atHome(tenantId, async (shard) => {
    await shard.parts.pools.residents.of(tenantId).query("SELECT");
    return work(shard);
  });
}

/** Services that listen to their database, or use its bucket. */
function boundToShard({ router, shards }: Routing) {
  const { atHome } = router;
  return {
    logTail: {
      async watch(tenantId, ...rest) {
        let beginning: ReturnType<ApiServices["logTail"]["watch"]> | undefined;
        try {
          return await atHome(tenantId, ({ api }) => (beginning = api.logTail.watch(tenantId, ...rest)));
        } catch (error) {
          // A shard that is found away is not waited for, and the watch may yet begin: its place would never be free again.
          beginning?.then((end) => end()).catch(() => undefined);
          throw error;
        }
      },
      close: () => together(shards, ({ api }) => api.logTail.close()),
    },
    fetches: {
      lease: (tenantId, id, wanted) =>
        waitWhileMoving(wanted.waitMs, (waitMs) =>
          atHome(tenantId, ({ api }) => api.fetches.lease(tenantId, id, { ...wanted, waitMs })),
        ),
      acknowledge: (tenantId, ...rest) =>
        atHome(tenantId, ({ api }) => api.fetches.acknowledge(tenantId, ...rest)),
      close: () => {
        for (const { api } of shards) api.fetches.close();
      },
    },
    downloads: {
      library: (tenantId, page) => atHome(tenantId, ({ api }) => api.downloads.library(tenantId, page)),
      get: (tenantId, id) => atHome(tenantId, ({ api }) => api.downloads.get(tenantId, id)),
      issueLink: (caller, asked) =>
        atHome(caller.tenantId, ({ api }) => api.downloads.issueLink(caller, asked)),
    },
    artifactChanges: {
      erase: (caller, id) => atHome(caller.tenantId, ({ api }) => api.artifactChanges.erase(caller, id)),
      hold: (caller, id, isHeld) =>
        atHome(caller.tenantId, ({ api }) => api.artifactChanges.hold(caller, id, isHeld)),
    },
  } satisfies Partial<ApiServices>;
}

/** Their statements go where the tenant lives by themselves: done again from its beginning, a send would be made twice. */
function personSendsOf(
  options: ServiceOptions,
  { router, shards }: Routing,
  tenants: TenantPool,
): ApiServices["personSends"] {
  const all = new Map(shards.map((shard) => [shard, makePersonSends(options, shard.parts, tenants)]));
  async function sendsAt(tenantId: TenantId): Promise<PersonSends> {
    const sends = all.get(await router.home(tenantId));
    if (sends === undefined) throw new Error("the router answers a shard that is none of the process's");
    return sends;
  }
  return {
    retry: async (caller, ...rest) => (await sendsAt(caller.tenantId)).retry(caller, ...rest),
    composeTest: async (tenantId, ...rest) => (await sendsAt(tenantId)).composeTest(tenantId, ...rest),
    test: async (caller, ...rest) => (await sendsAt(caller.tenantId)).test(caller, ...rest),
  };
}

/** A session is in its tenant's shard, one for all tenants in the first. A code does not say whose it is: all are asked. */
function portalOf(
  { config, log }: ServiceOptions,
  { router, shards }: Routing,
  first: ShardParts,
): Pick<ApiServices, "portal" | "sessions"> {
  type Work<T> = (portal: ShardParts["api"]["portal"]) => Promise<T>;
  const at = <T>({ pulse, api }: ShardParts, work: Work<T>) => pulse.guard(() => work(api.portal));
  const atHome = <T>(tenantId: TenantId | typeof ALL_TENANTS | null, work: Work<T>): Promise<T> =>
    tenantId === null || tenantId === ALL_TENANTS
      ? at(first, work)
      : whereItLives(router, tenantId, ({ api }) => work(api.portal));
  return {
    portal: {
      grant: (by, grant, minutes) => atHome(grant.tenantId, (portal) => portal.grant(by, grant, minutes)),
      act: (by, grant) => atHome(grant.tenantId, (portal) => portal.act(by, grant)),
      open: (code, by) => askAll(shards, (shard) => at(shard, (portal) => portal.open(code, by)), isUnknown),
      renew: (session) => atHome(session.tenantId, (portal) => portal.renew(session)),
      end: (session) => atHome(session.tenantId, (portal) => portal.end(session)),
    },
    sessions: makeSessionVerifier(
      config.session,
      {
        tokens: makeOwnTokens(config.encryptionKeys),
        isAlive: (id, tenantId) => atHome(tenantId, (portal) => portal.isAlive(id)),
      },
      { log },
    ),
  };
}

function isUnknown(error: unknown): boolean {
  return error instanceof Refusal && error.code === "unauthorized";
}

function tenantsOf({ router, shards }: Routing, first: ShardParts): ApiServices["tenants"] {
  const atHome = async <T>(
    tenantId: TenantId | null,
    work: (tenants: ApiServices["tenants"], tenantId: TenantId, shard: string) => Promise<T>,
  ): Promise<T> => {
    if (tenantId === null) throw new Refusal("not_found");
    return whereItLives(router, tenantId, ({ name, api }) => work(api.tenants, tenantId, name));
  };
  const inEach = <T>(work: (tenants: ApiServices["tenants"], shard: string) => Promise<T>): Promise<T[]> =>
    Promise.all(shards.map(({ name, pulse, api }) => pulse.guard(() => work(api.tenants, name))));
  return {
    async list(page) {
      const found = await inEach(async (tenants, shard) =>
        (await tenants.list(page)).map((tenant) => Object.assign(tenant, { shard })),
      );
      const moving = findTwice(found.flat().map(({ id }) => id));
      const homes = new Map(
        await Promise.all(moving.map(async (id) => [id, (await router.home(id)).name] as const)),
      );
      return mergeTenants(found, { ...page, homes });
    },
    get: (tenantId) =>
      atHome(tenantId, async (tenants, id, shard) => ({ ...(await tenants.get(id)), shard })),
    async count(tenantId) {
      await requireSettled(first, tenantId);
      return mergeCounts(await inEach((tenants) => tenants.count(tenantId)));
    },
    // The others' parts are begun by the worker of its own: `erase-elsewhere.ts`.
    erase: (by, tenantId) =>
      atHome(tenantId, (tenants, id, shard) =>
        tenants.erase(by, id, (transaction) =>
          requireSettled(first, id, shard === first.name ? transaction : undefined),
        ),
      ),
    getErasure: (tenantId) => atHome(tenantId, (tenants, id) => tenants.getErasure(id)),
  };
}

/**
 * Give it a transaction of the first shard that you have: to wait for a second
 * connection of the same pool meanwhile could be to wait for ever.
 * @throws Refusal `tenant_moving`
 */
async function requireSettled(
  { pulse, parts }: ShardParts,
  tenantId: TenantId,
  db: Db = parts.pools.publisher,
): Promise<void> {
  if (!(await pulse.guard(() => isBeingMoved(db, tenantId)))) return;
  const message =
    "finish the move with `postern tenants move`, or give it up with its --undo, and erase the tenant then";
  throw new Refusal("tenant_moving", { issues: [{ path: ["tenant_id"], message, code: "tenant_moving" }] });
}

function servedFilesOf(shards: readonly ShardParts[]): ApiServices["servedFiles"] {
  const all = shards.map(({ api }) => api.servedFiles).filter((files) => files !== null);
  const [first] = all;
  if (first === undefined) return null;
  return { ...first, buckets: new Map(all.flatMap(({ buckets }) => Array.from(buckets))) };
}

/** What is counted for a tenant goes to its shard, and the rest to the first. */
function auditTallyOf({ log }: ServiceOptions, { router, shards }: Routing, first: ShardParts): CallTally {
  for (const { parts } of shards) {
    parts.auditTally.onMoved((tenantId, entries) =>
      whereItLives(router, tenantId, (home) => home.parts.auditTally.write(entries)),
    );
  }
  function tell(tenantId: TenantId | null, entry: (tally: CallTally) => void): void {
    if (tenantId === null) return entry(first.parts.auditTally);
    router.home(tenantId).then(
      ({ parts }) => entry(parts.auditTally),
      (error: unknown) =>
        log.warn({ err: error, tenantId }, "an audit entry is lost: its shard is not known"),
    );
    return undefined;
  }
  return {
    failedAuthentication: (by) => tell(null, (tally) => tally.failedAuthentication(by)),
    limitReached: (by) => tell(by.tenantId, (tally) => tally.limitReached(by)),
    accessRefused: (by) => tell(by.caller.tenantId, (tally) => tally.accessRefused(by)),
    close: () => together(shards, ({ parts }) => parts.auditTally.close()),
  };
}

/** Ready while any shard is: a process that was taken away would take the other shards' tenants with it. */
function readinessOf(shards: readonly ShardParts[]): Readiness {
  return {
    report: async () =>
      mergeReports(
        await Promise.all(
          shards.map(async ({ name, api }) => ({ name, report: await api.readiness.report() })),
        ),
      ),
    refreshGauges: async () =>
      void (await Promise.all(shards.map(({ api }) => api.readiness.refreshGauges()))),
  };
}
