import { defineCommand } from "citty";
import { ConfigError } from "../../shared/config-error.ts";
import { byOperator } from "../../storage/library/change-artifacts.ts";
import { holdArtifact } from "../../storage/library/holds.ts";
import { uuid } from "../../storage/rules/values.ts";
import { makeLog } from "../../telemetry/log.ts";
import { readCommandConfig } from "../command-config.ts";
import { withClearErrors } from "../command.ts";
import { withReconciling } from "./reconciling.ts";
import { requireTenantId } from "../require-tenant-id.ts";

export const holdCommand = defineCommand({
  meta: {
    name: "hold",
    description: "Hold an artifact, so that it is neither expired nor erased, or end the hold",
  },
  args: {
    tenant: { type: "string", required: true, description: "Tenant id" },
    object: { type: "string", required: true, description: "The artifact's id" },
    end: { type: "boolean", description: "End the hold" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const tenantId = requireTenantId(args.tenant);
      if (!uuid.safeParse(args.object).success)
        throw new ConfigError("--object must be an artifact's id, in lower case");
      const isHeld = args.end !== true;
      const result = await withReconciling(
        await readCommandConfig(),
        makeLog("warn"),
        ({ db, bucket }) => holdArtifact({ changing: byOperator(db, tenantId), bucket }, args.object, isHeld),
        [tenantId],
      );
      if (result === "gone")
        throw new ConfigError(`${args.object} has expired or was erased, and its bytes are deleted`);
      if (result === "absent")
        throw new ConfigError(`${tenantId} has no artifact ${args.object} whose bytes may be there`);
      console.log(`${args.object} is ${isHeld ? "held" : "held no longer"}`);
    }),
});
