/** What keeps tenants from being moved between two databases. Pure. */
import type { TenantId } from "../shared/id.ts";
import { ASKING_MS, type ServerFacts } from "./copy-store.ts";

/** One for the subscription, and two for tables that are copied at the same moment. */
const SLOTS = 3;

/** Each fault of a database that tenants are moved out of, as a line, and a line that says what to do. */
export function faultsOfSource(name: string, facts: ServerFacts): string[] {
  const faults: string[] = [];
  if (facts.walLevel !== "logical") {
    faults.push(
      `The server of ${name} has wal_level ${facts.walLevel}, and moving a tenant needs logical.\n` +
        "Let an administrator run ALTER SYSTEM SET wal_level = logical; and restart the server.",
    );
  }
  const raised = [
    ...raise("max_replication_slots", facts.maxSlots, facts.freeSlots),
    ...raise("max_wal_senders", facts.maxSenders, facts.freeSenders),
  ];
  if (raised.length > 0) {
    faults.push(
      `The server of ${name} has ${facts.freeSlots} free replication slots and ${facts.freeSenders} free senders, and moving a tenant needs ${SLOTS}.\n` +
        `Let an administrator run ${raised.join(" ")} and restart the server.`,
    );
  }
  if (!facts.mayReplicate || !facts.mayPublish) {
    faults.push(
      `The user ${facts.user} of ${name} may not publish the tenant's rows.\n` +
        `Name a superuser's URL in MOVE_FROM_URL, or let an administrator run GRANT postern_owner TO ${facts.user}; ALTER ROLE ${facts.user} REPLICATION; ${grantCreate(facts)}`,
    );
  }
  return faults;
}

/** What may end the copy of a table at each try; null: nothing. */
export function limitOfSource(
  name: string,
  { user, database, statementTimeout }: ServerFacts,
): string | null {
  if (statementTimeout === null) return null;
  return (
    `Connections of the user ${user} to ${name} have a statement_timeout of ${statementTimeout}, and PostgreSQL copies each table in one statement of that user.\n` +
    `Let an administrator run ALTER ROLE ${user} IN DATABASE ${database} SET statement_timeout = 0; before the move, and the same with RESET statement_timeout behind it.`
  );
}

/** The same of a database that tenants are moved into. */
export function faultsOfTarget(name: string, facts: ServerFacts): string[] {
  if (facts.maySubscribe) return [];
  const grants =
    facts.version < 16
      ? "."
      : `, or let an administrator run GRANT pg_create_subscription TO ${facts.user}; ALTER ROLE ${facts.user} BYPASSRLS; ${grantCreate(facts)}`;
  return [
    `The user ${facts.user} of ${name} may not subscribe to the tenant's rows.\n` +
      `Name a superuser's URL in MOVE_TO_URL${grants}`,
  ];
}

/** The command itself reaches the source; the target's server stands elsewhere. */
export function faultOfSilence(source: string, target: string, next: string): string {
  return (
    `The server of ${target} got no answer from ${source} within ${ASKING_MS / 1000} seconds.\n` +
    `Let it reach the host and port of ${source}'s URL in SHARDS, or name another URL in MOVE_FROM_URL. ${next}`
  );
}

/** The file's bytes lie in the shard's own bucket. `stored` is not empty. */
export function faultOfStored(name: string, tenantId: TenantId, stored: readonly string[]): string {
  return (
    `${tenantId} has ${stored.join(" and ")} in ${name}, which cannot be moved.\n` +
    `If it keeps bodies, turn that off first (PUT /api/storage/settings), or new ones come. Wait until exports have ended and artifacts have expired, or end their holds and run \`postern storage erase --tenant ${tenantId} --all\` with the URL of ${name} as DATABASE_URL and without SHARDS. Within the hour its workers note that the files are gone.`
  );
}

/** Nothing where enough are free. */
function raise(setting: string, most: number, free: number): string[] {
  return free < SLOTS ? [`ALTER SYSTEM SET ${setting} = ${most + SLOTS - free};`] : [];
}

function grantCreate({ database, user }: ServerFacts): string {
  return `GRANT CREATE ON DATABASE ${database} TO ${user};`;
}
