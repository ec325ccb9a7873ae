import { defineCommand } from "citty";
import { auditView } from "../api/schemas.ts";
import { AUDIT_ACTIONS, type AuditAction, type AuditEntry, type AuditFilter } from "../audit/audit-entry.ts";
import { readAuditOfAll } from "../audit/audit.ts";
import type { Db } from "../database/pool.ts";
import { ConfigError } from "../shared/config-error.ts";
import { parseDurationMs } from "../shared/duration.ts";
import { parseTenantId, type TenantId } from "../shared/id.ts";
import { withClearErrors } from "./command.ts";
import { asOwner } from "./owner.ts";

const PAGE = 500;

export const audit = defineCommand({
  meta: { name: "audit", description: "Show the audit log of every tenant, newest first" },
  args: {
    tenant: { type: "string", description: "Of this tenant alone" },
    since: { type: "string", default: "1d", description: "How far back, for example 30m or 7d" },
    action: { type: "string", description: `One of ${AUDIT_ACTIONS.join(", ")}` },
    json: { type: "boolean", description: "As JSON" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const sinceMs = parseDurationMs(args.since);
      if (sinceMs === null) throw new ConfigError(`--since ${args.since} is no duration such as 30m or 7d`);
      const tenantId = args.tenant === undefined ? null : parseTenantId(args.tenant);
      if (args.tenant !== undefined && tenantId === null) {
        throw new ConfigError("--tenant must be 1 to 64 of A-Z, a-z, 0-9, _ and -");
      }
      const filter = { action: parseAction(args.action), fromMs: Date.now() - sinceMs };
      await asOwner("audit", async (db) => {
        const shown: object[] = [];
        for await (const entry of entriesOf(db, tenantId, filter)) {
          if (args.json === true) shown.push({ tenant_id: entry.tenantId, ...auditView(entry) });
          else console.log(lineOf(entry));
        }
        if (args.json === true) console.log(JSON.stringify(shown, null, 2));
      });
    }),
});

function parseAction(text: string | undefined): AuditAction | undefined {
  const action = AUDIT_ACTIONS.find((name) => name === text);
  if (text !== undefined && action === undefined) {
    throw new ConfigError(`--action must be one of ${AUDIT_ACTIONS.join(", ")}`);
  }
  return action;
}

async function* entriesOf(
  db: Db,
  tenantId: TenantId | null,
  filter: AuditFilter,
): AsyncGenerator<AuditEntry> {
  for (let before: AuditEntry["id"] | undefined; ;) {
    const page = await readAuditOfAll(db, { tenantId, filter: { ...filter, before }, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    before = page.at(-1)?.id;
  }
}

function lineOf({ at, tenantId, actor, action, outcome, endpointId, address, details }: AuditEntry): string {
  const who = actor.sub === null ? actor.type : `${actor.type}:${JSON.stringify(actor.sub)}`;
  const what = outcome === "done" ? action : `${action} (${outcome})`;
  const parts = [at.toISOString(), tenantId ?? "-", who, what, endpointId ?? "-", address ?? "-"];
  return [...parts, JSON.stringify(details)].join("  ");
}
