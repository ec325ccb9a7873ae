/** Each shard as the only database is looked at, and whether they belong together. */
import type { Config } from "../../config.ts";
import type { Pool } from "../../database/pool.ts";
import { judgeShards } from "../../shards/join.ts";
import { readLeftCopies, readServerFacts } from "../../shards/copy-store.ts";
import { readDeadSlots } from "../../shards/end-copy.ts";
import { readHandovers } from "../../shards/join-store.ts";
import { readMoves } from "../../shards/directory-store.ts";
import { findAbsent, findLeft, findMisplaced, type Left } from "../../shards/misplaced.ts";
import type { MoveSite } from "../../shards/move-store.ts";
import { faultOfRestore } from "../../shards/restored-move.ts";
import { faultsOfSource, faultsOfTarget } from "../../shards/move-faults.ts";
import { withOwnBucket } from "../../shards/own-bucket.ts";
import type { Shard } from "../../shards/shard-list.ts";
import { withDatabases } from "../databases.ts";
import { checkDatabase } from "./doctor-checks.ts";
import { checkHosts } from "./doctor-hosts.ts";
import { counted, findingOf, type Finding } from "./finding.ts";

/** Events wait for milliseconds, unless a shard is away. */
const WAITING_MS = 60_000;

type Database = { name: string; db: Pool };

export async function checkShards(config: Config, shards: readonly Shard[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const reached: Shard[] = [];
  for (const [place, shard] of shards.entries()) {
    const { name, url } = shard;
    const own = place === 0 ? config : withOwnBucket(config, name);
    const settings = { ...own, databaseUrl: url, shards: undefined };
    const found = [...(await checkHosts(settings)), ...(await checkDatabase(settings))];
    findings.push(...found.map((finding) => ({ ...finding, check: `shard ${name}: ${finding.check}` })));
    const isMigrated = found.some(({ check, status }) => check === "schema" && status === "ok");
    if (isMigrated) reached.push(shard);
  }
  const isWhole = reached.length === shards.length;
  return [
    ...findings,
    ...(await withDatabases(reached, (databases) => checkTogether(databases, shards, isWhole))),
  ];
}

async function checkTogether(
  databases: readonly Database[],
  shards: readonly Shard[],
  isWhole: boolean,
): Promise<Finding[]> {
  const states = await Promise.all([
    ...databases.map(({ name, db }) => checkState(name, db)),
    ...databases.map((source) => checkSlots(source, databases)),
    checkMoving(databases, shards[0]?.name),
  ]);
  const check = "shards";
  if (!isWhole) {
    const fix = "fix each shard's problems above, then run `postern doctor` again";
    return [...states.flat(), { check, status: "warn", detail: "not compared with each other yet", fix }];
  }
  const faults = await judgeShards(
    databases,
    shards.map(({ name }) => name),
  );
  if (faults.length === 0) {
    const detail = `${counted(shards.length, "database")} of one installation; ${shards[0]?.name} keeps the directory`;
    return [...states.flat(), { check, status: "ok", detail }, ...(await checkPlaces(databases))];
  }
  return [...states.flat(), ...faults.map((words) => findingOf(check, "fail", { words }))];
}

function laterBackupOf(shard: string): string {
  return `stop Postern, and restore a later backup of ${shard} (docs/scaling.md, When a shard is down)`;
}

/** Rows of such a tenant are hidden, or it is refused. */
async function checkPlaces(databases: readonly Database[]): Promise<Finding[]> {
  const [first] = databases;
  if (first === undefined) return [];
  const findings: Finding[] = [];
  for (const shard of databases) {
    const check = `shard ${shard.name}: tenants`;
    const misplaced = await findMisplaced(first.db, shard);
    const [one] = misplaced;
    if (one !== undefined) {
      const home = one.home === null ? "nowhere" : `in ${one.home}`;
      findings.push({
        check,
        status: "fail",
        detail: `${one.tenantId}${othersOf(misplaced)} by its own rows, and by the directory ${home}${one.home === shard.name ? ", since another move" : ""}: a database was restored from a backup older than a move, or than the tenant`,
        fix: laterBackupOf(one.isDirectoryOlder ? first.name : shard.name),
      });
    }
    const absent = await findAbsent(first.db, shard);
    const [lacking] = absent;
    if (lacking !== undefined) {
      findings.push({
        check,
        status: "fail",
        detail: `${lacking}${othersOf(absent)} by the directory, since a move whose end it does not know: it was restored from a backup older than that`,
        fix: laterBackupOf(shard.name),
      });
    }
    findings.push(...describeLeft(check, await findLeft(first.db, shard), first.name));
  }
  return findings;
}

const LEFT: Record<Left["what"], { status: "fail" | "warn"; detail: (who: string) => string }> = {
  gone: {
    status: "fail",
    detail: (who) =>
      `${who} moved on by the shard's own rows, and not by the directory: the directory was restored from a backup older than that`,
  },
  held: {
    status: "fail",
    detail: (who) =>
      `deliveries of ${who}, and perhaps publishing, wait for a move that is over: the shard was restored from a backup made within it`,
  },
  rest: {
    status: "warn",
    detail: (who) =>
      `rows of ${who} are left of a move that is over, and nobody asks for them: the shard was restored from a backup made within it`,
  },
};

function describeLeft(check: string, left: readonly Left[], first: string): Finding[] {
  return (["gone", "held", "rest"] as const).flatMap((what) => {
    const such = left.filter((one) => one.what === what);
    const [one] = such;
    if (one === undefined) return [];
    const { status, detail } = LEFT[what];
    const fix =
      what === "gone"
        ? laterBackupOf(first)
        : `run \`postern tenants move ${one.tenantId} --undo\`, and then this again`;
    return [{ check, status, detail: detail(`${one.tenantId}${othersOf(such)}`), fix }];
  });
}

function othersOf({ length }: readonly unknown[]): string {
  return length > 1 ? ` and ${counted(length - 1, "more tenant")}` : "";
}

async function checkState(name: string, db: Pool): Promise<Finding[]> {
  const { waiting, waitingMs } = await readHandovers(db);
  const findings: Finding[] = [];
  if (waitingMs !== null && waitingMs > WAITING_MS) {
    findings.push({
      check: `shard ${name}: hand-over`,
      status: "warn",
      detail: `${waiting} ${waiting === 1 ? "event for another shard waits" : "events for other shards wait"}, the oldest for ${Math.round(waitingMs / 1000)} s`,
      fix: "see which shard is away, and whether a worker runs with all of SHARDS",
    });
  }
  return [...findings, ...(await checkMovable(name, db)), ...(await checkMoves(name, db))];
}

/** What moving a tenant from it or to it lacks. Nothing else needs it. */
async function checkMovable(name: string, db: Pool): Promise<Finding[]> {
  const check = `shard ${name}: moving tenants`;
  const facts = await readServerFacts(db);
  const faults = [...faultsOfSource(name, facts), ...faultsOfTarget(name, facts)];
  if (faults.length === 0) return [{ check, status: "ok", detail: "possible from it and to it" }];
  return faults.map((words) => findingOf(check, "info", { words }));
}

/** A slot of a move keeps the server's log for as long as it is there. */
async function checkMoves(name: string, db: Pool): Promise<Finding[]> {
  const copies = await readLeftCopies(db);
  if (copies.length === 0) return [];
  return [
    {
      check: `shard ${name}: moves`,
      status: "warn",
      detail: `a move of a tenant is under way, or was left half-way: ${copies.join(", ")}`,
      fix: "SELECT * FROM postern.tenant_moves in the first shard names it: run `postern tenants move` for it again, or with --undo. Without a row there, drop the subscription, and then the publications and the slot",
    },
  ];
}

/** Those of single tables, which a command leaves that was killed as the move ended. None names its move. */
async function checkSlots(source: Database, targets: readonly Database[]): Promise<Finding[]> {
  const found = await Promise.all(targets.map((target) => readDeadSlots(source, target)));
  const names = [...new Set(found.flat())].toSorted();
  if (names.length === 0) return [];
  const quoted = names.map((name) => `'${name}'`).join(", ");
  return [
    {
      check: `shard ${source.name}: slots`,
      status: "warn",
      detail: `${counted(names.length, "replication slot")} of a move that is over ${names.length === 1 ? "keeps" : "keep"} the server's log, and nobody reads from ${names.length === 1 ? "it" : "them"}: ${names.join(", ")}`,
      fix: `in ${source.name}, run SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name IN (${quoted}) AND NOT active`,
    },
  ];
}

/** Also a move of which a restore has brought back this alone: the tenant's deliveries may wait for it. */
async function checkMoving(databases: readonly MoveSite[], first: string | undefined): Promise<Finding[]> {
  const directory = databases.find(({ name }) => name === first);
  if (directory === undefined) return [];
  const findings: Finding[] = [];
  for (const move of await readMoves(directory.db)) {
    const words = await faultOfMove(databases, directory, move);
    findings.push(words === null ? underWay(move) : findingOf("moves", "fail", { words }));
  }
  return findings;
}

type MoveRow = Awaited<ReturnType<typeof readMoves>>[number];

/** Null too where one of its shards is away, or it has ended meanwhile. */
async function faultOfMove(
  databases: readonly MoveSite[],
  directory: MoveSite,
  { tenantId, ...named }: MoveRow,
): Promise<string | null> {
  const [source, target] = [named.source, named.target].map((shard) =>
    databases.find(({ name }) => name === shard),
  );
  if (source === undefined || target === undefined) return null;
  return faultOfRestore({ directory, source, target }, tenantId);
}

function underWay({ tenantId, source, target }: MoveRow): Finding {
  return {
    check: "moves",
    status: "warn",
    detail: `${tenantId} is being moved from ${source} to ${target}, or was left half-way`,
    fix: `where no command is at work, run \`postern tenants move ${tenantId}\` again, or with --undo`,
  };
}
