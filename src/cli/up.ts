import { defineCommand } from "citty";
import { environment, isProduction, type Environment } from "../config.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeLog } from "../telemetry/log.ts";
import { withClearErrors } from "./command.ts";
import { parseWorkers } from "./extra-workers.ts";
import { parseWait } from "./parse-wait.ts";
import { readStartConfig, runRoles, startRoles, stopOnSignal, WAIT_ARGUMENT, type Stoppable } from "./run.ts";

export const up = defineCommand({
  meta: { name: "up", description: "Run API and worker in one process" },
  args: {
    demo: {
      type: "boolean",
      description: "Make its own secrets and a receiver; not for production",
    },
    workers: {
      type: "string",
      default: "1",
      description:
        "How many workers to run, for a machine with many cores; the others are processes of their own",
    },
    wait: WAIT_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const extraWorkers = parseWorkers(args.workers) - 1;
      if (args.demo !== true) return runRoles(["api", "worker"], { wait: args.wait, extraWorkers });
      if (extraWorkers > 0) throw new ConfigError("--demo runs one worker: leave --workers out");
      return runDemo(environment(), parseWait(args.wait));
    }),
});

async function runDemo(env: Environment, waitMs: number): Promise<void> {
  if (isProduction(env)) {
    throw new ConfigError(
      "--demo makes its own secrets and opens a loopback address: it does not run under NODE_ENV=production",
    );
  }
  console.log("Starting Postern …");
  // Loaded here: the certificate maker has no place in a process that serves.
  const [{ startDemo }, { sampleEvent }] = await Promise.all([
    import("../demo/demo.ts"),
    import("../demo/welcome.ts"),
  ]);
  const parts: Stoppable[] = [];
  const demo = await startDemo(env);
  parts.push(demo);
  const read = await readStartConfig(demo.env);
  const { config } = read;
  const log = makeLog(config.logLevel);
  stopOnSignal(parts, log);
  const roles = await startRoles(read, {
    roles: ["api", "worker"],
    log,
    waitMs,
    isDemo: true,
    extraCaPems: [demo.caPem],
    standingCode: demo.portalCode,
  });
  parts.push(roles);
  demo.connect({ databaseUrl: roles.databaseUrl, encryptionKeys: config.encryptionKeys });
  const apiUrl = `${roles.service.address}${config.basePath}`;
  const { databaseUrl } = roles;
  const catalog = read.catalog.current();
  const sample = sampleEvent(catalog, config.eventCatalogFile !== undefined);
  const traffic = await demo.live({
    apiUrl,
    databaseUrl,
    retryScheduleMs: config.retryScheduleMs,
    catalog,
    sample,
  });
  // The first to stop: what it publishes needs the service.
  parts.push(traffic);
  console.log(await demo.welcome({ apiUrl, databaseUrl, sample }));
}
