/** Three real NATS servers in a cluster, each a process that a test may kill, stop for a while and start again. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { STREAM } from "../../src/intake/stream.ts";
import { freePort } from "./free-port.ts";
import { goBinary, prepareGoProgram, type GoProgram } from "./go-program.ts";
import { eventually } from "./eventually.ts";

const NATS_SERVER: GoProgram = {
  name: "nats-server",
  path: "github.com/nats-io/nats-server/v2",
  version: "v2.15.2",
  about: "the intake's stream for tests",
};

/** Builds it where it is not there yet. Null when it is ready, else why it cannot be had. */
export function prepareNats(tell: (line: string) => void = () => undefined): string | null {
  return prepareGoProgram(NATS_SERVER, tell);
}

/** For `skip`: false where the servers can run. */
export function withoutNats(): string | false {
  const missing = prepareNats();
  return missing === null ? false : `DID NOT RUN: ${missing}`;
}

const running = new Set<ChildProcess>();
// A test that fails must not leave its servers behind.
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

type Server = { name: string; port: number; clusterPort: number; child: ChildProcess | null };

export class NatsCluster {
  readonly #folder: string;
  readonly #servers: readonly Server[];

  private constructor(folder: string, servers: readonly Server[]) {
    this.#folder = folder;
    this.#servers = servers;
  }

  /** `count` servers that have elected a leader, with their files below `place`. Call `prepareNats` first. */
  static async start(count = 3, place = tmpdir()): Promise<NatsCluster> {
    const folder = await mkdtemp(join(place, "postern-nats-"));
    const servers: Server[] = [];
    for (let n = 1; n <= count; n++) {
      servers.push({ name: `n${n}`, port: await freePort(), clusterPort: await freePort(), child: null });
    }
    const cluster = new NatsCluster(folder, servers);
    for (const server of servers) cluster.#launch(server);
    await cluster.untilReady();
    return cluster;
  }

  get url(): string {
    return `nats://${this.#servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  }

  names(): string[] {
    return this.#servers.map(({ name }) => name);
  }

  async kill(...names: string[]): Promise<void> {
    await Promise.all(
      this.#named(names).map(async (server) => {
        const { child } = server;
        assert.ok(child !== null, `${server.name} is not running`);
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
        server.child = null;
      }),
    );
  }

  restart(...names: string[]): void {
    for (const server of this.#named(names)) this.#launch(server);
  }

  /** @param login as the server's own arguments */
  restartWith(login: readonly string[], ...names: string[]): void {
    for (const server of this.#named(names)) this.#launch(server, login);
  }

  /** The server that leads the stream. */
  async leader(): Promise<string> {
    return this.withManager((manager) =>
      eventually(async () => (await manager.streams.info(STREAM).catch(() => null))?.cluster?.leader),
    );
  }

  /** What is in the stream, once there is a leader to say so. */
  async messages(): Promise<number> {
    return this.withManager(async (manager) => {
      const found = await eventually(async () => {
        const info = await manager.streams.info(STREAM).catch(() => null);
        return info === null ? null : { messages: info.state.messages };
      });
      return found.messages;
    });
  }

  async untilReady(): Promise<void> {
    await this.withManager((manager) =>
      eventually(async () => {
        for (const { name, child } of this.#servers) {
          // One that has only just started has written nothing yet.
          if (child !== null && child.exitCode !== null) assert.fail(`${name} ended: ${this.#said(name)}`);
        }
        return manager.getAccountInfo().then(
          () => true,
          () => false,
        );
      }),
    );
  }

  withManager<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    return this.#connected(async (connection) =>
      work(await jetstreamManager(connection, { checkAPI: false, timeout: 2000 })),
    );
  }

  withClient<T>(work: (client: JetStreamClient) => Promise<T>): Promise<T> {
    return this.#connected((connection) => work(jetstream(connection)));
  }

  /** What another client of the same account hears below a subject while something is done. */
  heard(subject: string, during: () => Promise<void>): Promise<string[]> {
    return this.#connected(async (connection) => {
      const heard: string[] = [];
      connection.subscribe(subject, { callback: (_, message) => void heard.push(message.string()) });
      await connection.flush();
      await during();
      await connection.flush();
      return heard;
    });
  }

  async stop(): Promise<void> {
    await this.kill(...this.#servers.filter(({ child }) => child !== null).map(({ name }) => name));
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #connected<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
    const connection = await eventually(() =>
      connect({ servers: this.url.slice("nats://".length).split(","), ignoreClusterUpdates: true }).catch(
        () => null,
      ),
    );
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  }

  #named(names: readonly string[]): Server[] {
    return this.#servers.filter(({ name }) => names.includes(name));
  }

  /** The last lines that a server wrote. */
  #said(name: string): string {
    return readFileSync(this.#log(name), "utf8").split("\n").slice(-5).join("\n");
  }

  #log(name: string): string {
    return join(this.#folder, `${name}.log`);
  }

  #launch(server: Server, more: readonly string[] = []): void {
    const routes = this.#servers.map(({ clusterPort }) => `nats://127.0.0.1:${clusterPort}`).join(",");
    const clustered = this.#servers.length > 1;
    const args = [
      ["--addr", "127.0.0.1", "--port", String(server.port), "--server_name", server.name],
      ["--jetstream", "--store_dir", join(this.#folder, server.name), "--log", this.#log(server.name)],
      clustered
        ? [
            "--cluster_name",
            "test",
            "--cluster",
            `nats://127.0.0.1:${server.clusterPort}`,
            "--routes",
            routes,
          ]
        : [],
      more,
    ].flat();
    const child = spawn(goBinary(NATS_SERVER), args, { stdio: "ignore" });
    server.child = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
  }
}
