/** The test stand: a real PostgreSQL, Postern as its own process(es), and the receiver. */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueToken, type TokenClaims } from "../src/api/session-token.ts";
import { makeSecrets } from "../src/config.ts";
import { migrate } from "../src/database/schema/migrate.ts";
import { readMigrations } from "../src/database/schema/migration-files.ts";
import { createPool } from "../src/database/pool.ts";
import { makeTestCa, type KeyAndCertificate } from "../test/support/certificates.ts";
import { buildProgram } from "../tools/build.ts";
import { startDatabase, type Database, type Major } from "./database.ts";
import type { Target } from "./generator.ts";
import { familyCpuSeconds, memoryMib } from "./measure.ts";
import type { ReceiverQuestion, ReceiverReport } from "./receiver.ts";

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");
const RECEIVER = join(import.meta.dirname, "receiver.ts");
const TOKEN_LIFE_MS = 86_400_000;

export type Command = "up" | "api" | "worker";

export type Program = { url: string; pid: number; stop(signal?: NodeJS.Signals): Promise<void> };

export type Stand = {
  databaseUrl: string;
  /** For 127.0.0.1 and localhost; the programs trust it. */
  certificate: KeyAndCertificate;
  start(command: Command, settings?: Record<string, string>): Promise<Program>;
  target(program: Program, path: string, claims: TokenClaims): Promise<Target>;
  receiver(question: ReceiverQuestion | "look"): Promise<ReceiverReport>;
  /** For what the API does not do in bulk: seeding, tidying and looking. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  postgresCpuSeconds(): number;
  /** Kills the database server as a power cut would end it, and starts it again. */
  crashPostgres(): Promise<void>;
  close(): Promise<void>;
};

/** On the embedded PostgreSQL unless another major or server is asked for. */
export async function openStand(on: Major | Database = "18"): Promise<Stand> {
  const folder = await mkdtemp(join(tmpdir(), "postern-bench-"));
  await chmod(folder, 0o711);
  const postgres = typeof on === "string" ? await startDatabase(on, folder) : on;
  const ca = await makeTestCa();
  const leaf = await ca.issue();
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, ca.caPem);
  const receiver = fork(RECEIVER, {
    env: { ...process.env, BENCH_CERT: leaf.certPem, BENCH_KEY: leaf.keyPem },
  });
  await once(receiver, "message");
  const secrets = makeSecrets();
  const admin = createPool({
    url: postgres.url,
    poolSize: 2,
    applicationName: "bench",
    connectionTimeoutMs: 5000,
    statementTimeoutMs: 0,
  });
  const programs = new Set<Program>();
  const built = await buildProgram();
  await migrate(admin, await readMigrations(MIGRATIONS));

  return {
    databaseUrl: postgres.url,
    certificate: leaf,
    async start(command, settings = {}) {
      const program = await startProgram(built, command, {
        ...secrets,
        PORT: "0",
        LOG_LEVEL: "info",
        DATABASE_URL: postgres.url,
        OUTBOUND_ALLOWED_CIDRS: "127.0.0.0/8",
        NODE_EXTRA_CA_CERTS: caFile,
        ...settings,
      });
      programs.add(program);
      return program;
    },
    async target(program, path, claims) {
      const { hostname, port } = new URL(program.url);
      const token = await issueToken({ secret: secrets.SESSION_JWT_SECRET }, claims, TOKEN_LIFE_MS);
      return { host: hostname, port: Number(port), path, token };
    },
    sql: async (text, values) => (await admin.query(text, values)).rows,
    receiver: (question) => ask(receiver, question),
    postgresCpuSeconds: postgres.cpuSeconds,
    crashPostgres: () => postgres.crash(),
    async close() {
      for (const program of programs) await program.stop();
      receiver.disconnect();
      await admin.end();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startProgram(built: string, command: Command, env: Record<string, string>): Promise<Program> {
  const child = spawn(built, [command], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
      const address = /"address":"(http:[^"]+)"/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once("exit", () => reject(new Error(`postern ${command} ended at once:\n${output}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    async stop(signal = "SIGTERM") {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, "exit");
    },
  };
}

async function ask(receiver: ChildProcess, question: ReceiverQuestion | "look"): Promise<ReceiverReport> {
  receiver.send(question);
  const [report] = await once(receiver, "message");
  return report;
}

/** What something cost: CPU seconds of the programs and of PostgreSQL. */
export async function costOf(stand: Stand, programs: readonly Program[], work: () => Promise<void>) {
  const before = { postern: sumCpu(programs), postgres: stand.postgresCpuSeconds() };
  await work();
  return {
    posternCpuS: sumCpu(programs) - before.postern,
    postgresCpuS: stand.postgresCpuSeconds() - before.postgres,
    peakMib: Math.max(...programs.map((program) => memoryMib(program.pid).peak)),
  };
}

function sumCpu(programs: readonly Program[]): number {
  return programs.reduce((sum, program) => sum + familyCpuSeconds(program.pid), 0);
}
