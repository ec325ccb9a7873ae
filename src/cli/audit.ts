import { defineCommand } from "citty";
import { auditView } from "../api/schemas.ts";
import { AUDIT_ACTIONS, type AuditEntry, type AuditFilter } from "../audit/audit-entry.ts";
import { readAuditOfAll } from "../audit/audit.ts";
import type { Db } from "../database/pool.ts";
import { ConfigError } from "../shared/config-error.ts";
import { parseDurationMs } from "../shared/duration.ts";
import type { TenantId } from "../shared/id.ts";
import { closedOutput } from "./closed-output.ts";
import { withClearErrors } from "./command.ts";
import { asOwner } from "./owner.ts";
import { printable } from "./printable.ts";
import { requireTenantId } from "./require-tenant-id.ts";

const PAGE = 500;

export const audit = defineCommand({
  meta: { name: "audit", description: "Show the audit log of every tenant, newest first" },
  args: {
    tenant: { type: "string", description: "Of this tenant alone" },
    since: { type: "string", default: "1d", description: "How far back, for example 30m or 7d" },
    action: {
      type: "enum",
      options: [...AUDIT_ACTIONS],
      description: "Of this kind alone, such as secret.rotated; any other word names them all",
    },
    json: { type: "boolean", description: "As JSON" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const sinceMs = parseDurationMs(args.since);
      if (sinceMs === null)
        throw new ConfigError(`--since ${args.since} is not a duration such as 30m or 7d`);
      const tenantId = args.tenant === undefined ? null : requireTenantId(args.tenant);
      const filter = { action: args.action, fromMs: Date.now() - sinceMs };
      await asOwner("audit", (db) => print(entriesOf(db, tenantId, filter), args.json === true));
    }),
});

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

/** Piece by piece, because a year of entries exceeds memory; ends when the reader closes the pipe, as `head` does. */
async function print(entries: AsyncIterable<AuditEntry>, asJson: boolean): Promise<void> {
  const { stdout } = process;
  if (asJson) stdout.write("[");
  let comma = "";
  for await (const entry of entries) {
    if (closedOutput.aborted) return;
    stdout.write(asJson ? `${comma}\n  ${jsonOf(entry)}` : `${lineOf(entry)}\n`);
    comma = ",";
  }
  if (asJson) stdout.write("\n]\n");
}

function jsonOf(entry: AuditEntry): string {
  return printable(JSON.stringify({ tenant_id: entry.tenantId, ...auditView(entry) }));
}

function lineOf({ at, tenantId, actor, action, outcome, endpointId, address, details }: AuditEntry): string {
  const who = actor.sub === null ? actor.type : `${actor.type}:${JSON.stringify(actor.sub)}`;
  const what = outcome === "done" ? action : `${action} (${outcome})`;
  const parts = [at.toISOString(), tenantId ?? "-", who, what, endpointId ?? "-", address ?? "-"];
  return printable([...parts, JSON.stringify(details)].join("  "));
}
