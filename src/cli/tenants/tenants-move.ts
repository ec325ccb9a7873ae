import { defineCommand } from "citty";
import { environment, readDatabaseConfig } from "../../config.ts";
import { forLibpq } from "../../database/hosts/host-list.ts";
import { isPassing } from "../../database/passing-errors.ts";
import type { Pool } from "../../database/pool.ts";
import { foldCounts } from "../../deliveries/stats-store.ts";
import { readServerFacts } from "../../shards/copy-store.ts";
import { readHomes } from "../../shards/directory-store.ts";
import { readMark } from "../../shards/join-store.ts";
import { judgeShards } from "../../shards/join.ts";
import { faultOfStored, faultsOfSource, faultsOfTarget, limitOfSource } from "../../shards/move-faults.ts";
import {
  findMove,
  findStored,
  findTablesWithRows,
  insertMove,
  measureRows,
  tryLockMove,
  wasErasedSince,
  type Move,
  type Size,
} from "../../shards/move-store.ts";
import { BROUGHT } from "../../shards/move-tables.ts";
import { moveTenant, undoMove, type MoveServices } from "../../shards/move.ts";
import { requireUnrestored } from "../../shards/restored-move.ts";
import { tlsParameterFault } from "../../database/tls-parameters.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { messageOf } from "../../shared/message-of.ts";
import type { TenantId } from "../../shared/id.ts";
import { sayDatabase } from "../command-database.ts";
import { withClearErrors } from "../command.ts";
import { endMoveThatIsOver } from "./end-restored-move.ts";
import {
  endAtOnce,
  isShardOf,
  lookAt,
  shardOf,
  whileAnswering,
  withPool,
  type Place,
} from "./move-databases.ts";
import { makeProgress } from "../progress.ts";
import { requireTenantId } from "../require-tenant-id.ts";

const MB = 1_000_000;

export const moveCommand = defineCommand({
  meta: { name: "move", description: "Move a tenant to another shard, or go on with a move" },
  args: {
    tenant: { type: "positional", required: true, description: "Tenant id" },
    to: { type: "string", description: "Name of the shard, as in SHARDS" },
    "dry-run": { type: "boolean", description: "Only check whether it can be moved" },
    undo: { type: "boolean", description: "Give up a move that has not switched yet" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const tenantId = requireTenantId(args.tenant);
      if (args["dry-run"] === true && args.undo === true)
        throw new ConfigError("--undo has no --dry-run.\n`postern tenants show` says how far the move is.");
      const { shards = [], dataDir } = readDatabaseConfig(environment());
      const [first] = shards;
      if (first === undefined)
        throw new ConfigError("SHARDS is not set.\nA tenant is moved between the databases that it names.");
      const asked: Asked = {
        tenantId,
        to: args.to ?? null,
        isDry: args["dry-run"] === true,
        isUndo: args.undo === true,
      };
      sayDatabase({ databaseUrl: undefined, shards, dataDir });
      await withPool(first, (directory) =>
        withLock({ name: first.name, db: directory }, tenantId, () => run(shards, directory, asked)),
      );
    }),
});

type Asked = { tenantId: TenantId; to: string | null; isDry: boolean; isUndo: boolean };

async function run(shards: readonly Place[], directory: Pool, asked: Asked): Promise<void> {
  const { tenantId } = asked;
  const home = (await readHomes(directory, [tenantId])).get(tenantId);
  if (home === undefined) {
    throw new ConfigError(
      `The directory does not know ${tenantId}.\nA tenant is placed when it is first asked for, for example with its next event.`,
    );
  }
  const move = await findMove(directory, tenantId);
  if (move === null && asked.isUndo) {
    await endMoveThatIsOver(shards, directory, { tenantId, home });
    return;
  }
  const to = asked.to ?? move?.target;
  if (to === undefined)
    throw new ConfigError("--to is missing.\nName the shard that the tenant is to live in.");
  if (move !== null && move.target !== to) {
    throw new ConfigError(
      `${tenantId} is being moved to ${move.target} already.\nGo on with --to ${move.target}, or give it up with --undo.`,
    );
  }
  const source = shardOf(shards, move?.source ?? home.shard);
  const target = shardOf(shards, to);
  if (source === target) throw new ConfigError(`${tenantId} lives in ${to} already.\nName another shard.`);
  const [sourcePlace, targetPlace] = [placeOf(source, "MOVE_FROM_URL"), placeOf(target, "MOVE_TO_URL")];
  const progress = makeProgress(false);
  await withPool(sourcePlace, (from) =>
    withPool(targetPlace, async (into) => {
      const services: MoveServices = {
        directory,
        source: { name: source.name, db: from },
        target: { name: target.name, db: into },
        sourceUrl: forLibpq(sourcePlace.url),
        foldCounts,
        tell: (text) => progress.show(text),
      };
      await act(services, { move, asked, names: shards.map(({ name }) => name) });
    }),
  ).finally(() => progress.end());
}

/** Under the URL of the setting, where it is set: it is none of the service, which are checked at its start. */
function placeOf(shard: Place, setting: "MOVE_FROM_URL" | "MOVE_TO_URL"): Place {
  const url = environment()[setting];
  if (url === undefined) return shard;
  const fault = tlsParameterFault(url);
  if (fault !== null) throw new ConfigError(`${setting} ${fault}`);
  return { name: shard.name, url, setting };
}

async function act(
  services: MoveServices,
  { move, asked, names }: { move: Move | null; asked: Asked; names: string[] },
): Promise<void> {
  const { directory, source, target } = services;
  const { tenantId } = asked;
  await requireShards(services);
  await requireUnrestored({ ...services, directory: { name: names[0] ?? "", db: directory } }, asked, move);
  if (asked.isUndo && move !== null) {
    if (move.switched) {
      throw new ConfigError(
        `${tenantId} lives in ${target.name} already.\nRun the command without --undo: it deletes what is left in ${source.name}.`,
      );
    }
    await orHalfWay(services, tenantId, () => undoMove(services, move));
    console.log(`${tenantId} stays in ${source.name}.`);
    return;
  }
  if (move === null) {
    const facts = await requireMovable(services, tenantId, names);
    if (asked.isDry) {
      console.log(`${tenantId} can be moved from ${source.name} to ${target.name}.`);
      console.log(describeSize(await measureRows(source.db, tenantId, BROUGHT), target.name));
      const limit = limitOfSource(source.name, facts);
      if (limit !== null) console.log(limit);
      return;
    }
    await insertMove(directory, { tenantId, source: source.name, target: target.name });
  } else if (asked.isDry) {
    console.log(`${tenantId} is being moved from ${source.name} to ${target.name} already.`);
    return;
  }
  const begun = await findMove(directory, tenantId);
  if (begun === null) throw new Error("a move that has begun has no row");
  await orHalfWay(services, tenantId, () => moveTenant(services, begun));
  console.log(`${tenantId} has moved from ${source.name} to ${target.name}.`);
}

/** Neither a server that went away nor a Ctrl-C says anything of the tenant, whose deliveries and publishing may wait meanwhile. */
async function orHalfWay(
  { source, target }: MoveServices,
  tenantId: TenantId,
  work: () => Promise<void>,
): Promise<void> {
  const end = (): void => endHalfWay(tenantId, "the command was interrupted");
  process.on("SIGINT", end).on("SIGTERM", end);
  try {
    const silent = (name: string): void => endHalfWay(tenantId, `${name} does not answer`);
    await whileAnswering(source, silent, () => whileAnswering(target, silent, work));
  } catch (error) {
    throw isPassing(error) ? halfWay(tenantId, messageOf(error)) : error;
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

function halfWay(tenantId: TenantId, why: string): ConfigError {
  return new ConfigError(
    `${tenantId} is half-way, and its deliveries and publishing may wait: ${why}.\nRun the command again soon; \`postern tenants show\` tells its step.`,
  );
}

function endHalfWay(tenantId: TenantId, why: string): void {
  endAtOnce(halfWay(tenantId, why));
}

/** PostgreSQL tells no client how much is free on its disk. */
function describeSize({ rows, bytes }: Size, target: string): string {
  const told = bytes < MB ? "less than 1 MB" : `${Math.round(bytes / MB)} MB`;
  return `It has ${rows} rows to copy, ${told} without indexes. Check that ${target}'s disk has room for them and their indexes.`;
}

/** A URL of the command that leads elsewhere would have rows of a living tenant deleted. */
async function requireShards({ directory, source, target }: MoveServices): Promise<void> {
  const keeper = await readMark(directory);
  for (const [site, setting] of [
    [source, "MOVE_FROM_URL"],
    [target, "MOVE_TO_URL"],
  ] as const) {
    if (!(await isShardOf(keeper, site))) {
      throw new ConfigError(
        `The database of ${setting} is not the shard ${site.name} of this installation.\nCorrect or unset it; without it the URL of SHARDS is used.`,
      );
    }
  }
}

/** Before anything is copied. Answers the source's facts. */
async function requireMovable(
  { directory, source, target }: MoveServices,
  tenantId: TenantId,
  names: readonly string[],
): Promise<Awaited<ReturnType<typeof readServerFacts>>> {
  const facts = await readServerFacts(source.db);
  const faults = [
    ...faultsOfSource(source.name, facts),
    ...faultsOfTarget(target.name, await readServerFacts(target.db)),
    ...(await judgeShards(
      [{ name: names[0] ?? "", db: directory }, ...others(source, target, names)],
      names,
    )),
  ];
  const stored = await findStored(source.db, tenantId);
  if (stored.length > 0) faults.push(faultOfStored(source.name, tenantId, stored));
  const left = await findTablesWithRows(target.db, tenantId, BROUGHT);
  if (left.length > 0) {
    faults.push(
      `${target.name} has rows of ${tenantId} already (${left.join(", ")}).\nIdempotency keys of postern.publish end after 25 hours; ask for help about others.`,
    );
  }
  if (await wasErasedSince(source.db, tenantId, new Date())) {
    faults.push(`${tenantId} is being erased.\nThere will be nothing to move.`);
  }
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  return facts;
}

function others(
  source: MoveServices["source"],
  target: MoveServices["target"],
  [first]: readonly string[],
): MoveServices["source"][] {
  return [source, target].filter(({ name }) => name !== first);
}

/** One command at a time for a tenant. One that has lost its lock ends: another may delete what it copies, or the reverse. */
async function withLock(
  { name, db }: MoveServices["source"],
  tenantId: TenantId,
  work: () => Promise<void>,
): Promise<void> {
  const client = await db.connect();
  const lost = (): void =>
    endHalfWay(tenantId, `the connection to ${name} that keeps other commands away is lost`);
  // A host that is gone ends no connection.
  const look = lookAt(client, () => undefined, lost);
  try {
    if (!(await tryLockMove(client, tenantId))) {
      throw new ConfigError(`Another command is moving ${tenantId}.\nWait until it has ended.`);
    }
    client.on("error", lost);
    look.start();
    await work();
  } finally {
    // First: a look under way ends with the connection, and is not waited for.
    client.off("error", lost).release(true);
    await look.stop();
  }
}
