import { defineCommand } from "citty";
import type { Role } from "../service/service-options.ts";
import { withClearErrors } from "./command.ts";
import { runRoles, WAIT_ARGUMENT } from "./run.ts";

export const api = roleCommand("api", "Serve the API; events wait for a worker");
export const worker = roleCommand("worker", "Make attempts; serve /health, /ready and /metrics alone");

function roleCommand(role: Role, description: string) {
  return defineCommand({
    meta: { name: role, description },
    args: { wait: WAIT_ARGUMENT },
    run: ({ args }) => withClearErrors(() => runRoles([role], args)),
  });
}
