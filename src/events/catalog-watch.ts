/** Puts a changed catalog in force within two seconds, in every process that has the file. */
import { makeRepeated } from "../shared/every.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { CatalogFile } from "./live-catalog.ts";

const LOOK_EVERY_MS = 500;

export function makeCatalogWatch(services: { catalog: CatalogFile; log: Log; metrics: Metrics }) {
  const { catalog, log, metrics } = services;

  async function look(): Promise<void> {
    const found = await catalog.look();
    if (found.kind === "unchanged") return;
    metrics.catalogReads.inc({ outcome: found.kind });
    metrics.catalogRefused.set(catalog.isRefused() ? 1 : 0);
    if (found.kind === "read") {
      log.info({ types: catalog.current().types.size }, "the event catalog was read again");
    } else {
      log.error(
        { fault: found.fault },
        "the changed event catalog is refused; the former one stays in force",
      );
    }
  }

  return makeRepeated(LOOK_EVERY_MS, look, (error) =>
    log.error({ err: error }, "looking at the event catalog failed"),
  );
}
