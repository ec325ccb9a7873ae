/** What a producer sent, checked against the catalog and written as every attempt will send it. */
import type { NewEvent } from "../queue/queue.ts";
import { newEventId, parseTenantId, type EventId, type TenantId } from "../shared/id.ts";
import { Refusal, type Issue } from "../shared/refusal.ts";
import type { Catalog } from "./catalog.ts";
import { writeBody } from "./new-event.ts";
import type { PublishInput } from "./publish-input.ts";
import { judgeVersions } from "./publish-versions.ts";
import { patternsMatching } from "./subscription.ts";

/**
 * An array is all or nothing. `sessionTenant` null means that each event must
 * name its tenant. `idAt` gives the event at a place its id.
 */
export function checkEvents(
  given: PublishInput | readonly PublishInput[],
  sessionTenant: TenantId | null,
  catalog: Catalog,
  idAt: (place: number) => EventId = newEventId,
): NewEvent[] {
  const issues: Issue[] = [];
  const events = [given].flat().map((input, index) => {
    const at = Array.isArray(given) ? [index] : [];
    const tenantId = input.tenant_id === undefined ? sessionTenant : parseTenantId(input.tenant_id);
    if (tenantId === null) {
      issues.push({ path: [...at, "tenant_id"], message: "is required for this session", code: "required" });
      return null;
    }
    if (sessionTenant !== null && tenantId !== sessionTenant) {
      throw new Refusal("forbidden", { reason: "the tenant of an event is not the tid of the token" });
    }
    const judged = judgeVersions(input, catalog);
    for (const { path, message, code } of judged.issues)
      issues.push({ path: [...at, ...path], message, code });
    // What is refused is not written out: data nested beyond the limit would exhaust the stack.
    if (judged.issues.length > 0) return null;
    const { newest, versions } = judged;
    const checked = { type: input.type, tenantId, newest, versions, key: input.id ?? null };
    return writeChecked(idAt(index), checked);
  });
  if (issues.length > 0) throw new Refusal("validation_failed", { issues });
  return events.filter((event) => event !== null);
}

function writeChecked(
  id: EventId,
  {
    type,
    tenantId,
    key,
    newest,
    versions,
  }: {
    type: string;
    tenantId: TenantId;
    key: string | null;
    newest: number;
    versions: ReadonlyMap<number, unknown>;
  },
): NewEvent {
  const others = Array.from(versions).filter(([version]) => version !== newest);
  const bodies = others.map(([version, data]) => [version, writeBody(id, type, data)] as const);
  return {
    id,
    body: writeBody(id, type, versions.get(newest)),
    tenantId,
    type,
    patterns: patternsMatching(type, [...versions.keys()]),
    version: newest,
    others: bodies.length === 0 ? null : Object.fromEntries(bodies),
    idempotencyKey: key,
  };
}

/** The characters of all its bodies. */
export function sizeOfBodies({ body, others }: Pick<NewEvent, "body" | "others">): number {
  return Object.values(others ?? {}).reduce((sum, other) => sum + other.length, body.length);
}
