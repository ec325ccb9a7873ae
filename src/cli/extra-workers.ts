/**
 * Worker processes beside this one, for a machine with many cores. One that ends
 * is started again. They end with this process: at its stop, or when it is gone
 * (`stopOnSignal` in `run.ts` hears that).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Environment } from "../config.ts";
import { ConfigError } from "../shared/config-error.ts";
import { together } from "../shared/ending.ts";
import type { Log } from "../telemetry/log.ts";

type Stoppable = { stop(): Promise<void> };

const MOST_WORKERS = 64;
const RESTART_AFTER_MS = 1000;
/** Set for workers that end with the process that started them. Not a setting. */
export const EXTRA_WORKER = "POSTERN_EXTRA_WORKER";

/** Throws ConfigError. */
export function parseWorkers(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MOST_WORKERS) return count;
  throw new ConfigError(`--workers ${text} is not a number from 1 to ${MOST_WORKERS}`);
}

export function startExtraWorkers(
  count: number,
  { env, databaseUrl, log }: { env: Environment; databaseUrl: string; log: Log },
): Stoppable {
  const workers = Array.from({ length: count }, () => keepWorker({ env, databaseUrl, log }));
  return { stop: () => together(workers, (worker) => worker.stop()) };
}

/** Shards are in the environment, and a database that is embedded is not. */
function databaseOf(env: Environment, databaseUrl: string): Environment {
  return env["SHARDS"] === undefined ? { DATABASE_URL: databaseUrl } : {};
}

function keepWorker({ env, databaseUrl, log }: Parameters<typeof startExtraWorkers>[1]): Stoppable {
  let child = start();
  let restart: NodeJS.Timeout | null = null;
  let isStopping = false;

  function start(): ChildProcess {
    const [main = ""] = process.argv.slice(1);
    const started = spawn(process.execPath, [...process.execArgv, main, "worker"], {
      // The port is this process's; a worker serves its own metrics on a free one of this machine.
      env: { ...env, ...databaseOf(env, databaseUrl), HOST: "127.0.0.1", PORT: "0", [EXTRA_WORKER]: "1" },
      // The channel ends with this process, however that ends.
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const { pid } = started;
    // Of one that the system does not start there is an error and then its close.
    if (pid !== undefined) log.info({ pid }, "an extra worker started");
    started.once("error", (error) =>
      log.error({ err: error }, "an extra worker could not be started; it is tried again"),
    );
    started.once("close", (code, signal) => {
      if (isStopping) return;
      if (pid !== undefined) log.error({ pid, code, signal }, "an extra worker ended; it is started again");
      restart = setTimeout(() => {
        child = start();
      }, RESTART_AFTER_MS);
    });
    return started;
  }

  return {
    async stop() {
      isStopping = true;
      if (restart !== null) clearTimeout(restart);
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
