/** Refused URLs in the audit log. A refusal has no transaction of its own, and does not fail for want of its entry. */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { EndpointId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import type { Caller } from "./audit-entry.ts";
import { insertAuditEntries } from "./audit-store.ts";
import { maskUrl } from "./mask-url.ts";

export type UrlRefusals = {
  /** `rule`: which of the guard's rules the URL broke. `endpointId` null: there is none yet. */
  refused(
    caller: Caller,
    what: {
      endpointId: EndpointId | null;
      operation: "create" | "update" | "test" | "retry";
      url: string;
      rule: string;
    },
  ): Promise<void>;
};

export function makeUrlRefusals({ tenants, log }: { tenants: TenantPool; log: Log }): UrlRefusals {
  return {
    async refused(caller, { endpointId, operation, url, rule }) {
      try {
        const details = { operation, url: maskUrl(url), rule };
        await insertAuditEntries(tenants.of(caller.tenantId), [
          { ...caller, action: "url.refused", endpointId, outcome: "refused", details },
        ]);
      } catch (error) {
        const { tenantId, requestId } = caller;
        log.warn({ err: error, tenantId, requestId }, "a refused URL is missing in the audit log");
      }
    },
  };
}
