import { ConfigError } from "../shared/config-error.ts";
import { parseTenantId, type TenantId } from "../shared/id.ts";

/** Of an option that names one tenant. */
export function requireTenantId(text: string): TenantId {
  const tenantId = parseTenantId(text);
  if (tenantId !== null) return tenantId;
  throw new ConfigError(
    `${text === "" ? '""' : text} is no tenant id.\nIt has 1 to 64 of A-Z, a-z, 0-9, _ and -.`,
  );
}
