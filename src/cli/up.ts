import { defineCommand } from "citty";
import { environment, isProduction, readConfig, type Environment } from "../config.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeLog } from "../telemetry/log.ts";
import { withClearErrors } from "./command.ts";
import { startRoles, stopOnSignal } from "./run.ts";

export const up = defineCommand({
  meta: { name: "up", description: "Run API and worker in one process" },
  args: {
    demo: {
      type: "boolean",
      description: "With secrets of its own making and a receiver to send to; not for production",
    },
  },
  run: ({ args }) => withClearErrors(() => (args.demo === true ? runDemo(environment()) : run())),
});

async function run(): Promise<void> {
  const config = readConfig(environment());
  const log = makeLog(config.logLevel);
  stopOnSignal([await startRoles(config, { roles: ["api", "worker"], log })], log);
}

async function runDemo(env: Environment): Promise<void> {
  if (isProduction(env)) {
    throw new ConfigError(
      "--demo makes up secrets and opens a loopback address: it does not run under NODE_ENV=production",
    );
  }
  console.log("Starting Postern …");
  // Loaded here: the certificate maker has no place in a process that serves.
  const { startDemo } = await import("../demo/demo.ts");
  const demo = await startDemo(env);
  const config = readConfig(demo.env);
  const log = makeLog(config.logLevel);
  const roles = await startRoles(config, { roles: ["api", "worker"], log, extraCaPems: [demo.caPem] });
  demo.connect({ databaseUrl: roles.databaseUrl, encryptionKeys: config.encryptionKeys });
  console.log(await demo.welcome(`${roles.service.address}${config.basePath}`));
  stopOnSignal([demo, roles], log);
}
