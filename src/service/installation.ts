/** What every caller may know of how this installation is set. */
import type { Installation } from "../api/services.ts";
import type { Config } from "../config.ts";

export function describeInstallation(config: Config): Installation {
  const { rateLimits, outbound } = config;
  return {
    limits: {
      endpoints: config.maxEndpointsPerTenant,
      writes_per_minute: rateLimits.writes,
      dispatches_per_minute: rateLimits.dispatches,
      fetches_per_minute: rateLimits.fetches,
      retention_days: config.retentionDays,
    },
    features: {
      private_targets: outbound.allowedCidrs.length > 0,
      public_links: areLinksPublic(config),
    },
  };
}

/** An object store serves links itself; the folder's lead to `PUBLIC_URL`. Plain http is allowed for this machine alone. */
function areLinksPublic({ objectStore, publicUrl = "" }: Config): boolean {
  const base = objectStore.kind === "s3" ? (objectStore.endpoint ?? "https://") : publicUrl;
  return base.startsWith("https://");
}
