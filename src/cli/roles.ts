import { defineCommand } from "citty";
import { environment, readConfig } from "../config.ts";
import type { Role } from "../service/parts.ts";
import { makeLog } from "../telemetry/log.ts";
import { withClearErrors } from "./command.ts";
import { startRoles, stopOnSignal, type Stoppable } from "./run.ts";

export const api = roleCommand("api", "Serve the API; events wait for a worker");
export const worker = roleCommand("worker", "Make attempts; serve /health, /ready and /metrics alone");

function roleCommand(role: Role, description: string) {
  return defineCommand({
    meta: { name: role, description },
    run: () =>
      withClearErrors(async () => {
        const config = readConfig(environment());
        const log = makeLog(config.logLevel);
        const parts: Stoppable[] = [];
        stopOnSignal(parts, log);
        parts.push(await startRoles(config, { roles: [role], log }));
      }),
  });
}
