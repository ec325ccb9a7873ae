/** Whether databases belong together as the shards of one installation. Pure. */

/** What a database says that it is: a shard of that name, of the installation with that directory. */
export type Mark = { name: string; directory: string; keepsDirectory: boolean };

export type ShardFacts = {
  /** In SHARDS. */
  name: string;
  /** The same for one database under whatever address, and no other's. */
  database: string;
  /** Of its schema. */
  version: number;
  /** Null for a database that never was a shard. */
  mark: Mark | null;
  hasTenants: boolean;
};

type Known = {
  /** How many tenants live in each shard, by the first one's directory. */
  homes: ReadonlyMap<string, number>;
  /** All that SHARDS has. */
  names: readonly string[];
};

/** Each fault as a line, and a line that says what to do. The first of the shards keeps the directory. */
export function shardFaults(shards: readonly ShardFacts[], { homes, names }: Known): string[] {
  const [first, ...others] = shards;
  return [
    ...faultsOfSame(shards),
    ...faultsOfVersions(shards),
    ...shards.flatMap(faultsOfName),
    ...(first === undefined
      ? []
      : [...faultsOfFirst(first), ...others.flatMap((one) => faultsOfOther(one, first))]),
    ...faultsOfHomes(homes, names),
  ];
}

function faultsOfSame(shards: readonly ShardFacts[]): string[] {
  return shards.flatMap(({ name, database }, place) => {
    const earlier = shards.slice(0, place).find((other) => other.database === database);
    if (earlier === undefined) return [];
    return [
      `SHARDS names one database twice, as ${earlier.name} and as ${name}.\nGive each shard a database of its own.`,
    ];
  });
}

function faultsOfVersions(shards: readonly ShardFacts[]): string[] {
  const newest = Math.max(...shards.map(({ version }) => version));
  const behind = shards.filter(({ version }) => version < newest).map(({ name }) => name);
  if (behind.length === 0) return [];
  const ahead = shards.filter(({ version }) => version === newest).map(({ name }) => name);
  return [
    `The shards have different versions of the schema: ${ahead.join(", ")} is at ${newest}, and ${behind.join(", ")} is behind.\n` +
      "Run `postern migrate` of the newest release that was started on them, and start that release.",
  ];
}

function faultsOfName({ name, mark }: ShardFacts): string[] {
  if (mark === null || mark.name === name) return [];
  return [
    `The database that SHARDS calls ${name} is the shard ${mark.name}.\nGive each database its former name in SHARDS.`,
  ];
}

function faultsOfFirst({ name, mark }: ShardFacts): string[] {
  if (mark === null || mark.keepsDirectory) return [];
  return [
    `The shard ${name} is first in SHARDS, but another keeps the directory of tenants.\nPut the shards back into their order: the first keeps the directory.`,
  ];
}

function faultsOfOther({ name, mark, hasTenants }: ShardFacts, first: ShardFacts): string[] {
  if (mark === null) {
    if (!hasTenants) return [];
    return [
      `The database of the shard ${name} holds tenants already, of which the directory in ${first.name} does not know.\nGive a new shard an empty database.`,
    ];
  }
  if (mark.directory === first.mark?.directory && !mark.keepsDirectory) return [];
  return [
    `The database of the shard ${name} belongs to another installation's shards.\nName the database that it had, or give a new shard an empty one.`,
  ];
}

function faultsOfHomes(homes: ReadonlyMap<string, number>, names: readonly string[]): string[] {
  const missing = [...homes].filter(([shard]) => !names.includes(shard));
  if (missing.length === 0) return [];
  const told = missing.map(([shard, count]) => `${shard} (${count} of them)`).join(", ");
  return [
    `Tenants live in shards that SHARDS does not name: ${told}.\nAdd these shards again; with *0 behind its name a shard takes no new tenants.`,
  ];
}
