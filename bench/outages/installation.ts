/**
 * Postern as an installation that must not fail: two shards, each a primary and
 * a synchronous standby, a stream of three servers in front where they can be
 * had, two processes for the API and two workers. What the processes reach of a
 * database passes a way that can be made silent.
 */
import assert from "node:assert/strict";
import type { Environment } from "../../src/config.ts";
import { createEndpoint } from "../../test/support/api.ts";
import { NatsCluster, prepareNats } from "../../test/support/nats-cluster.ts";
import { sharedSettings, startProgram, type Program } from "../../test/support/program.ts";
import { startReplicated, type Replicated, type Server } from "../../test/support/replicated-postgres.ts";
import { owner } from "../../test/support/shard-programs.ts";
import { newTenants } from "../../test/support/shards.ts";
import { mountSmallDisk, type SmallDisk } from "../../test/support/small-disk.ts";
import { startTcpProxy, type TcpProxy } from "../../test/support/tcp-proxy.ts";
import { startReceiver, type TlsReceiver } from "../../test/support/tls-receiver.ts";
import { StandbyPair } from "../standby-pair.ts";

const NAMES = ["eu1", "eu2"];
const TENANTS_PER_SHARD = 2;
const ROLES = ["api", "worker"] as const;
const OF_EACH = 2;
const DISK_MB = 400;

export type Role = (typeof ROLES)[number];

type Shard = {
  name: string;
  replicated: Replicated;
  pair: StandbyPair;
  /** By server. */
  ways: ReadonlyMap<Server, TcpProxy>;
  /** On which both servers lie; null where none can be mounted. */
  disk: SmallDisk | null;
};

export class Installation {
  readonly shards: readonly Shard[];
  /** Null where no such server can be had. */
  readonly stream: NatsCluster | null;
  readonly receiver: TlsReceiver;
  readonly env: Environment;
  /** Two of each role. */
  readonly #programs: Record<Role, Program[]> = { api: [], worker: [] };
  /** Of both shards by turns. */
  readonly tenants: readonly string[];

  private constructor(
    shards: readonly Shard[],
    { stream, receiver, env }: Pick<Installation, "stream" | "receiver" | "env">,
  ) {
    this.shards = shards;
    this.stream = stream;
    this.receiver = receiver;
    this.env = env;
    this.tenants = tenantsOf(shards.map(({ name }) => name));
  }

  static async start(): Promise<Installation> {
    const shards = await Promise.all(NAMES.map(startShard));
    const stream = prepareNats() === null ? await NatsCluster.start() : null;
    const receiver = await startReceiver();
    const { DATABASE_URL: _, ...settings } = await sharedSettings("", receiver.caPem);
    const env = {
      ...settings,
      SHARDS: shards.map(settingOf).join("|"),
      ...(stream === null ? {} : { INTAKE_URL: stream.url }),
    };
    const installation = new Installation(shards, { stream, receiver, env });
    // One after the other: the first one migrates.
    for (const role of ROLES) {
      for (let n = 0; n < OF_EACH; n++) installation.#programs[role].push(await startProgram([role], env));
    }
    const [api] = installation.#programs.api;
    assert.ok(api);
    for (const tid of installation.tenants)
      await createEndpoint(api, { url: `${receiver.url}/${tid}` }, { as: owner(tid) });
    return installation;
  }

  /** Of the processes that take events. */
  apis(): string[] {
    return this.#programs.api.map(({ url }) => url);
  }

  /** Kills one of the processes of a role, and starts another in its place. */
  async restart(role: Role, place: number): Promise<void> {
    await this.#programs[role][place]?.end("SIGKILL");
    this.#programs[role][place] = await startProgram([role], this.env);
  }

  /** Lets one of the processes of a role stand still meanwhile. */
  async suspend(role: Role, place: number, meanwhile: () => Promise<void>): Promise<void> {
    const program = this.#programs[role][place];
    program?.signal("SIGSTOP");
    await meanwhile();
    program?.signal("SIGCONT");
  }

  async close(): Promise<void> {
    const programs = Object.values(this.#programs).flat();
    await Promise.all(programs.map((program) => program.end("SIGKILL")));
    await this.receiver.close();
    await this.stream?.stop();
    for (const { replicated, ways, disk } of this.shards) {
      await Promise.all(ways.values().map((way) => way.close()));
      await replicated.close();
      await disk?.unmount();
    }
  }
}

async function startShard(name: string): Promise<Shard> {
  const disk = await mountSmallDisk(DISK_MB);
  const replicated = await startReplicated(2, { wal_level: "logical" }, disk?.folder);
  const ways = new Map<Server, TcpProxy>();
  for (const server of replicated.servers) ways.set(server, await startTcpProxy(server.port));
  return { name, replicated, pair: new StandbyPair(replicated), ways, disk };
}

function settingOf({ name, replicated, ways }: Shard): string {
  const hosts = ways.values().map(({ port }) => `127.0.0.1:${port}`);
  const url = new URL(replicated.servers[0]?.url() ?? "");
  return `${name}=postgres://${url.username}@${Array.from(hosts).join(",")}${url.pathname}`;
}

/** Of both shards by turns. */
function tenantsOf(names: readonly string[]): string[] {
  const newTenant = newTenants(names, "tenant");
  return Array.from({ length: TENANTS_PER_SHARD }, () => names.map(newTenant)).flat();
}
