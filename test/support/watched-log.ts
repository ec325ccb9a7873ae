/** A watched log: what its watcher is told, and what the metric counts of it. */
import assert from "node:assert/strict";
import type { TailFilter } from "../../src/deliveries/tail-batch.ts";
import type { LogTail } from "../../src/deliveries/tail.ts";
import type { TenantId } from "../../src/shared/id.ts";
import type { Metrics } from "../../src/telemetry/metrics.ts";

/** What it is told, and how to end it. */
export async function watchLog(tail: LogTail, tenantId: TenantId, filter: TailFilter) {
  const [sent, skipped]: [string[], (number | null)[]] = [[], []];
  const told = { sent, skipped, bodies: 0, empty: 0, hasRoom: true };
  const end = await tail.watch(tenantId, filter, {
    hasRoom: () => told.hasRoom,
    send(deliveries) {
      told.sent.push(...deliveries.map(({ id }) => id));
      told.empty += Number(deliveries.length === 0);
      told.bodies += deliveries.filter(({ requestBody }) => requestBody !== null).length;
    },
    skip: (count) => void told.skipped.push(count),
    end: () => assert.fail("no watcher's tenant has moved"),
  });
  return { told, end };
}

/** By what became of them. */
export async function watchedRows({ logWatchRows }: Metrics): Promise<Record<string, number>> {
  const { values } = await logWatchRows.get();
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.outcome), value]));
}
