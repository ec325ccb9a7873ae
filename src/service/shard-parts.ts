/**
 * The parts of a process that works on several databases: those of each, and
 * before them services that bring every call to the shard of its tenant.
 */
import { makePublisher, type MakeDurable } from "../events/publish.ts";
import { makeTakenEvents } from "../events/taken-events.ts";
import { makeKnownKeys } from "../intake/known-keys.ts";
import {
  claimHandovers,
  deleteHandovers,
  findDestinations,
  findTenantsHere,
  redirectHandovers,
} from "../queue/postgres/handover-store.ts";
import { makeChooser } from "../shards/choose-shard.ts";
import { Directory } from "../shards/directory.ts";
import { apartByTenant } from "../shards/apart-by-tenant.ts";
import { makeHandOver, type HandOverServices } from "../shards/hand-over.ts";
import { makeLaneOf, makeShardedHomes } from "../shards/intake-homes.ts";
import { makeKeysOfShards, type ShardOfKeys } from "../shards/keys-of-shards.ts";
import { makeShardedDurable, type PublishingShard } from "../shards/publish-to-shards.ts";
import { makeRouter } from "../shards/router.ts";
import type { Shard } from "../shards/shard-list.ts";
import type { Background } from "../shared/every.ts";
import { systemClock } from "../shared/clock.ts";
import { inTurn, together } from "../shared/ending.ts";
import { makeEraseElsewhere } from "./erase-elsewhere.ts";
import { startAfter } from "./late-start.ts";
import { makeShardParts, reach, type ShardParts } from "./one-shard.ts";
import type { Parts } from "./parts-type.ts";
import type { ProcessParts } from "./process-parts.ts";
import type { ServiceOptions } from "./service-options.ts";
import { makeRoutedServices } from "./routed-services.ts";

const HANDOVER_ROWS = {
  destinations: findDestinations,
  claim: claimHandovers,
  redirect: redirectHandovers,
  remove: deleteHandovers,
};

export async function makeShardedParts(
  options: ServiceOptions,
  process: ProcessParts,
  shards: readonly Shard[],
): Promise<Parts> {
  const [first] = shards;
  if (first === undefined) throw new Error("there is no shard");
  const reached = shards.map((shard) => ({ shard, ...reach(shard, options) }));
  const places = new Map(reached.map((place) => [place.shard.name, place]));
  const directory = new Directory({
    first: first.name,
    shards: places,
    choose: makeChooser(shards),
    log: options.log,
  });
  const all = new Map<string, ShardParts>();
  for (const { shard, pulse } of reached) {
    const isFirst = shard === first;
    const eraseElsewhere = makeEraseElsewhere(shard.name, { directory, shards: places });
    const own = { shard, isFirst, directory, pulse, eraseElsewhere };
    all.set(shard.name, await makeShardParts(options, process, own));
  }
  const list = [...all.values()];
  const services = makeRoutedServices(options, {
    router: makeRouter(directory, all),
    shards: list,
    process,
    publisher: makePublisher(options.catalog, durableOf(process, list, directory)),
  });
  return {
    background: [
      process.catalogWatch,
      ...list.map(({ pulse }) => pulse),
      ...list.flatMap(({ name, parts }) => onceJoined(options, name, parts.background)),
      ...(options.roles.has("worker") ? betweenShards(options, process, { shards: list, directory }) : []),
    ],
    stores: list.map(({ parts, options: { config } }) => ({
      bucket: parts.storage.bucket,
      config,
      reconciling: parts.reconciling,
    })),
    listensOn: (port) => {
      for (const { parts } of list) parts.storage.listensOn(port);
    },
    apiServices: services,
    close: () =>
      inTurn([
        process.stopSending,
        // While each can still pass on to the others.
        () => services.auditTally.close(),
        () => together(list, ({ parts }) => parts.close()),
        process.close,
        () => together(reached, ({ db }) => db.end()),
      ]),
  };
}

/** Nothing works on a shard before it is known to be the one that SHARDS means. */
function onceJoined(
  { absentShards }: ServiceOptions,
  shard: string,
  background: readonly Background[],
): readonly Background[] {
  const joined = absentShards?.get(shard);
  return joined === undefined ? background : [startAfter(joined, background)];
}

/** What producers publish goes to the intake, or to the shards. */
function durableOf(
  { intake }: ProcessParts,
  shards: readonly ShardParts[],
  directory: Directory,
): MakeDurable {
  if (intake !== null) {
    const ofKeys = shards.map(({ name, pulse, parts: { queue, pools } }): [string, ShardOfKeys] => [
      name,
      { queue, findHere: (tenantIds) => findTenantsHere(pools.publisher, tenantIds), pulse },
    ]);
    const findKnownKeys = makeKeysOfShards(directory, new Map(ofKeys), systemClock);
    return intake.makeDurable(findKnownKeys, makeLaneOf(directory));
  }
  const publishing = shards.map(({ name, pulse, parts: { commit, queue } }): [string, PublishingShard] => [
    name,
    { commit, findKnownKeys: makeKnownKeys(queue, systemClock), pulse },
  ]);
  return makeShardedDurable(directory, new Map(publishing));
}

/** What a worker moves from one shard to another, and from the intake to all. */
function betweenShards(
  options: ServiceOptions,
  { intake }: ProcessParts,
  { shards, directory }: { shards: readonly ShardParts[]; directory: Directory },
): Background[] {
  const targets = shards.map(({ name, pulse, parts: { acceptor, metrics } }) => {
    return { name, taken: apartByTenant(makeTakenEvents(acceptor)), metrics, pulse };
  });
  return [
    ...handOvers(options, shards, { directory, targets: new Map(targets.map((one) => [one.name, one])) }),
    ...(intake === null ? [] : [intake.makeRelay(makeShardedHomes(directory, targets))]),
  ];
}

/** From each shard to all. */
function handOvers(
  options: ServiceOptions,
  shards: readonly ShardParts[],
  { directory, targets }: { directory: Directory; targets: HandOverServices["shards"] },
): Background[] {
  return shards.flatMap(({ name, parts: { pools }, options: { log } }) => {
    const from = { name, db: pools.worker };
    return onceJoined(options, name, [
      makeHandOver({ from, rows: HANDOVER_ROWS, directory, shards: targets, log }),
    ]);
  });
}
