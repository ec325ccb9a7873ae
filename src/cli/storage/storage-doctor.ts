import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { defineCommand } from "citty";
import type { Config } from "../../config.ts";
import { hasCode } from "../../shared/error-code.ts";
import { StoreUnavailableError, type Bucket } from "../../storage/bytes/bucket.ts";
import { refusalOf } from "../../storage/bytes/s3-errors.ts";
import { buildObjectKey } from "../../storage/rules/object-key.ts";
import { countAbsent, judgeOwner, type OwnerServices } from "../../storage/upkeep/ownership.ts";
import { HALT_REMEDY } from "../../storage/upkeep/storage-monitor.ts";
import { readReconcileState } from "../../storage/upkeep/storage-upkeep.ts";
import { makeLog } from "../../telemetry/log.ts";
import { readCommandConfig } from "../command-config.ts";
import { withClearErrors } from "../command.ts";
import { checkObjectStore, DISK_FULL_CODES, FREE_THE_DISK } from "../doctor/doctor-checks.ts";
import type { Finding } from "../doctor/finding.ts";
import { tellFindings } from "../doctor/doctor.ts";
import { withReconciling } from "./reconciling.ts";

const PROBE = "{}";
const INSUFFICIENT_STORAGE = 507;

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
  return withReconciling(config, makeLog("silent"), async (services, own) => {
    const state = await readReconcileState(services);
    return [
      ...(await checkObjectStore(own)),
      await checkOwnerMark(services),
      await checkRoundTrip(services.bucket),
      ...(await checkArtifacts(services, state, own)),
      judgeReconciling(state),
    ];
  });
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
    return { check, status: "fail", detail: error.message, fix: storeFix(error) };
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
    return { check, status: "fail", detail: error.message, fix: storeFix(error) };
  }
}

/** A folder's faults have the system's codes and name a path, a bucket's do not. */
export function storeFix({ cause }: StoreUnavailableError): string {
  if (hasCode(cause, ...DISK_FULL_CODES)) return FREE_THE_DISK;
  if (hasCode(cause, "EACCES", "EPERM", "EROFS")) return "let the user that runs Postern write in DATA_DIR";
  if (cause instanceof Error && "path" in cause)
    return "see what is at that path in DATA_DIR, or to its disk";
  const { name, status } = refusalOf(cause);
  if (status === INSUFFICIENT_STORAGE) return "free space in the object store, or enlarge it or its quota";
  const isSilent = status === undefined && cause !== undefined && name !== "CredentialsProviderError";
  return isSilent || (status ?? 0) >= 500
    ? "start the object store, or correct OBJECT_STORE_URL; the store's own log may say more"
    : "see docs/storage.md for what the credential must be allowed";
}

type State = Awaited<ReturnType<typeof readReconcileState>>;

async function checkArtifacts(
  services: OwnerServices,
  { states, elsewhere }: State,
  { shards }: Config,
): Promise<Finding[]> {
  const check = "artifacts";
  const counted = Object.entries(states).map(([state, number]) => `${number} ${state}`);
  const detail = counted.length === 0 ? "none yet" : counted.join(", ");
  const absent = await checkPresence(services);
  // A tenant that moved between shards may leave its artifacts in another's bucket.
  const others = shards === undefined ? Object.entries(elsewhere) : [];
  return [
    { check, status: "ok", detail },
    ...(absent === null ? [] : [absent]),
    ...others.map(([bucket, number]): Finding => {
      const text = `${number} are in the bucket ${bucket}, so nobody downloads or deletes them`;
      const fix = "set OBJECT_STORE_URL back until they have expired, or leave them there";
      return { check, status: "warn", detail: text, fix };
    }),
  ];
}

async function checkPresence(services: OwnerServices): Promise<Finding | null> {
  const check = "artifacts";
  try {
    const { absent, looked } = await countAbsent(services);
    if (absent === 0) return null;
    const detail = `${absent} of ${looked} that were looked for are not in the bucket ${services.bucket.name}`;
    const fix =
      "give all processes the same folder as DATA_DIR, or OBJECT_STORE_URL; if it was emptied, restore it";
    return { check, status: "fail", detail, fix };
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // The round trip tells of it.
    return null;
  }
}

function judgeReconciling({ haltedAt, haltedReason, lastPageAt }: State): Finding {
  const check = "reconciling";
  if (haltedAt !== null) {
    const detail = `stopped since ${haltedAt.toISOString()}: ${haltedReason ?? ""}`;
    const fix = HALT_REMEDY;
    return { check, status: "fail", detail, fix };
  }
  const detail = lastPageAt === null ? "has not run yet" : `last page at ${lastPageAt.toISOString()}`;
  return { check, status: "ok", detail };
}
