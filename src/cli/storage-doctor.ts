import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { defineCommand } from "citty";
import type { Config } from "../config.ts";
import { StoreUnavailableError, type Bucket } from "../storage/bytes/bucket.ts";
import { buildObjectKey } from "../storage/rules/object-key.ts";
import { judgeOwner, type OwnerServices } from "../storage/upkeep/ownership.ts";
import { HALT_REMEDY } from "../storage/upkeep/storage-monitor.ts";
import { readReconcileState } from "../storage/upkeep/storage-upkeep.ts";
import { makeLog } from "../telemetry/log.ts";
import { readCommandConfig } from "./command-config.ts";
import { withClearErrors } from "./command.ts";
import { checkObjectStore } from "./doctor-checks.ts";
import type { Finding } from "./finding.ts";
import { tellFindings } from "./doctor.ts";
import { withReconciling } from "./reconciling.ts";

const PROBE = "{}";

export const storageDoctor = defineCommand({
  meta: {
    name: "doctor",
    description: "Test the object store, and show the state of reconciling",
  },
  args: { json: { type: "boolean", description: "As JSON" } },
  run: ({ args }) =>
    withClearErrors(async () => {
      tellFindings(await examineStorage(await readCommandConfig()), args.json === true);
    }),
});

function examineStorage(config: Config): Promise<Finding[]> {
  return withReconciling(config, makeLog("silent"), async (services, own) => [
    ...(await checkObjectStore(own)),
    await checkOwnerMark(services),
    await checkRoundTrip(services.bucket),
    ...(await checkReconciling(services)),
  ]);
}

/** What an upload needs. Should the deletion fail, the object is one without a row, which reconciling removes. */
async function checkRoundTrip(bucket: Bucket): Promise<Finding> {
  const check = "round trip";
  const key = buildObjectKey({
    tenant_id: randomUUID(),
    delivery_id: randomUUID(),
    attempt: 1,
    kind: "request_body",
  });
  const sha256 = createHash("sha256").update(PROBE).digest("hex");
  try {
    const open = () => Readable.from([Buffer.from(PROBE)]);
    const stored = await bucket.put({ key, size: PROBE.length, sha256, open });
    if (stored.code === "exists") throw new StoreUnavailableError("a key made up just now is taken");
    const { versionId } = stored;
    const seen = await bucket.head({ bucket: bucket.name, key, version_id: versionId });
    await bucket.deleteVersion({ key, versionId });
    if (seen.found && seen.sha256 === sha256) {
      return { check, status: "ok", detail: "an object was written, found as it was, and deleted" };
    }
    const detail = "the store does not answer the SHA-256 of what was written";
    return { check, status: "fail", detail, fix: "use a store that supports x-amz-checksum-sha256" };
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    const fix = "see docs/storage.md for what the credential must be allowed";
    return { check, status: "fail", detail: error.message, fix };
  }
}

async function checkOwnerMark(services: OwnerServices): Promise<Finding> {
  const check = "owner mark";
  try {
    const trouble = await judgeOwner(services);
    if (trouble === null) return { check, status: "ok", detail: "the bucket is this installation's" };
    return { check, status: "fail", detail: trouble, fix: "find out first whose the bucket is" };
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    return {
      check,
      status: "fail",
      detail: error.message,
      fix: "see docs/storage.md for what the credential must be allowed",
    };
  }
}

async function checkReconciling(services: Parameters<typeof readReconcileState>[0]): Promise<Finding[]> {
  const { states, haltedAt, haltedReason, lastPageAt } = await readReconcileState(services);
  const counted = Object.entries(states).map(([state, number]) => `${number} ${state}`);
  const artifacts = counted.length === 0 ? "none yet" : counted.join(", ");
  const findings: Finding[] = [{ check: "artifacts", status: "ok", detail: artifacts }];
  const check = "reconciling";
  if (haltedAt !== null) {
    const detail = `stopped since ${haltedAt.toISOString()}: ${haltedReason ?? ""}`;
    const fix = HALT_REMEDY;
    return [...findings, { check, status: "fail", detail, fix }];
  }
  const detail = lastPageAt === null ? "has not run yet" : `last page at ${lastPageAt.toISOString()}`;
  return [...findings, { check, status: "ok", detail }];
}
