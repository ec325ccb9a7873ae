/** What can be wrong around the program: each check looks at one thing and says what to do about it. */
import { randomUUID } from "node:crypto";
import { access, constants, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { countKeys } from "../../api/key-set.ts";
import type { Config, SessionSource } from "../../config.ts";
import { clockDifferenceMs, isWrongClock } from "../../database/clock-difference.ts";
import { nameDatabase } from "../../database/database-name.ts";
import { pendingMigrations } from "../../database/schema/migrate.ts";
import { createPool, type Pool } from "../../database/pool.ts";
import { refuseSharedConnections } from "../../database/pooler.ts";
import { findRoleTrouble } from "../../database/roles.ts";
import { findPartial } from "../../database/schema/whole-schema.ts";
import { isOfTheServer } from "../../database/passing-errors.ts";
import { ENCODING, findUnfit, isReadOnly, readServer, tryNewPages } from "../../database/server-version.ts";
import { readDatabaseClock } from "../../storage/rows/stored-object-store.ts";
import { readKeyUse } from "../../endpoints/change-keys.ts";
import { requireKeysInUse } from "../../endpoints/signing-secret.ts";
import { countExtraAuthorities } from "../../outbound/connect.ts";
import { makeResolver } from "../../outbound/resolver.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { hasCode } from "../../shared/error-code.ts";
import { makeFolders, OPEN } from "../../shared/make-folders.ts";
import { messageOf, reasonOf } from "../../shared/message-of.ts";
import { makeSecretBox } from "../../shared/secret-box.ts";
import { NEEDED_NODE } from "../../shared/version.ts";
import { withOwnBucket } from "../../shards/own-bucket.ts";
import { checkBucket } from "../../storage/bytes/bucket-check.ts";
import { StoreUnavailableError } from "../../storage/bytes/bucket.ts";
import { makeLinkSigner } from "../../storage/bytes/file-links.ts";
import { directoryBucketName } from "../../storage/bytes/directory-bucket.ts";
import { openBucket, servedEndpoint } from "../../storage/bytes/open-bucket.ts";
import { findStorageTroubles, HALT_REMEDY } from "../../storage/upkeep/storage-monitor.ts";
import { makeLog } from "../../telemetry/log.ts";
import { checkDurability } from "./doctor-hosts.ts";
import { checkLocks } from "./doctor-locks.ts";
import { checkVacuum } from "./doctor-vacuum.ts";
import { checkWorkers } from "./doctor-workers.ts";
import { counted, findingOf, type Finding } from "./finding.ts";
import { describeCause, describeMistake, MAKE_WRITABLE } from "../mistakes.ts";
import { CONNECTION_TIMEOUT_MS, loadMigrations, openDatabase } from "../databases.ts";

/** Of files that are not applied yet: a new database lacks all of them. */
const NAMED_FILES = 5;
/** Reserved for examples, and known to every name server. */
const KNOWN_NAME = "example.com";

const PROBE = Buffer.alloc(64 * 1024);
export const DISK_FULL_CODES = ["ENOSPC", "EDQUOT"];
const READ_ITS_LOG = "read server.log in DATA_DIR, or set DATABASE_URL to a server of your own";
export const FREE_THE_DISK = "free space on that disk, or enlarge it";

/** @param version as in `process.versions.node`. */
export function checkNode(version: string): Finding {
  const detail = `Node ${version}`;
  if (Number.parseInt(version, 10) >= NEEDED_NODE) return { check: "node", status: "ok", detail };
  const fix = `install Node ${NEEDED_NODE} or newer, or start through npm, which brings its own`;
  return { check: "node", status: "fail", detail, fix };
}

export async function checkDataDir(dataDir: string): Promise<Finding> {
  const check = "data folder";
  const probe = join(dataDir, `.doctor-${randomUUID()}`);
  try {
    await makeFolders(dataDir, OPEN);
    // An empty file would still find room on a full disk.
    await writeFile(probe, PROBE, { flag: "wx" });
    return { check, status: "ok", detail: `${dataDir} can be written` };
  } catch (error) {
    const fix = hasCode(error, ...DISK_FULL_CODES)
      ? FREE_THE_DISK
      : "make the folder, owned by the user that runs Postern, or set DATA_DIR to another";
    return { check, status: "fail", detail: messageOf(error), fix };
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

/** Node ignores a file that it can't read, or reads no certificate from, at best with one line that is lost in a service's log. */
export async function checkAuthorities(file: string | undefined): Promise<Finding[]> {
  if (file === undefined) return [];
  const check = "trusted authorities";
  try {
    await access(file, constants.R_OK);
    // What Node has read of it, at the start of this process.
    if (countExtraAuthorities() > 0) return [];
    const detail = `Node has read no certificate from NODE_EXTRA_CA_CERTS (${file}): its authorities are not trusted`;
    const fix =
      "make it a file of certificates in PEM, each of whose BEGIN and END is a line, and restart Postern";
    return [{ check, status: "warn", detail, fix }];
  } catch (error) {
    const detail = `NODE_EXTRA_CA_CERTS can't be read: ${messageOf(error)}`;
    const fix = "correct the path, let this user read the file, and restart Postern";
    return [{ check, status: "warn", detail, fix }];
  }
}

/** Whether the key set of session tokens can be read. A shared secret needs nothing. */
export async function checkSessionKeys(session: SessionSource): Promise<Finding[]> {
  if (session.kind === "secret") return [];
  const check = "session keys";
  try {
    const count = await countKeys(session.url);
    if (count > 0) return [{ check, status: "ok", detail: `${session.url} has ${counted(count, "key")}` }];
    const fix = "publish the public keys that your application signs session tokens with";
    return [
      {
        check,
        status: "fail",
        detail: `${session.url} has no key: no token of your application is accepted`,
        fix,
      },
    ];
  } catch (error) {
    const detail = `SESSION_JWKS_URL can't be read: ${reasonOf(error)}`;
    const fix =
      "correct the URL, or let this machine reach it; NODE_EXTRA_CA_CERTS names a private authority's certificate";
    return [{ check, status: "fail", detail, fix }];
  }
}

const STARTED_FOR_THIS: Finding = {
  check: "database",
  status: "ok",
  detail: "its server did not run: it was started for this check, and is stopped again",
};

/** The database, its schema, and whether the key ring opens what is stored in it. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const check = "database";
  try {
    const database = await openDatabase(config, makeLog("silent"));
    try {
      const findings = await inspectDatabase(database.url, config);
      // Or all would seem well, while a process waits for the server that it had joined.
      return database.isJoined === false ? [...findings, STARTED_FOR_THIS] : findings;
    } finally {
      await database.stop();
    }
  } catch (error) {
    if (config.databaseUrl === undefined) {
      const [detail = messageOf(error), fix = READ_ITS_LOG] = describeCause(error)?.split("\n") ?? [];
      return [{ check, status: "fail", detail, fix }];
    }
    const words = describeMistake(error) ?? messageOf(error);
    const otherwise = "check DATABASE_URL, and that PostgreSQL runs there";
    return [findingOf(check, "fail", { words, otherwise })];
  }
}

async function inspectDatabase(url: string, config: Config): Promise<Finding[]> {
  await refuseSharedConnections(url, CONNECTION_TIMEOUT_MS);
  const db = createPool({
    url,
    poolSize: 1,
    applicationName: "postern doctor",
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
  });
  try {
    return await inspect(db, config);
  } finally {
    await db.end();
  }
}

async function inspect(db: Pool, config: Config): Promise<Finding[]> {
  const findings: Finding[] = [await checkServer(db, config)];
  if (findings.some(({ status }) => status === "fail")) return findings;
  findings.push(...(await checkWrites(db)), ...(await checkDurability(db, config)));
  const trouble = await findRoleTrouble(db);
  if (trouble !== null) findings.push({ check: "roles", status: "fail", ...trouble });
  const partial = await findPartial(db);
  // What the roles may not read cannot be checked.
  if (partial !== null) return [...findings, { check: "schema", status: "fail", ...partial }];
  const pending = await pendingMigrations(db, await loadMigrations());
  if (pending.length > 0) {
    const files = pending.map(({ file }) => file);
    const named = files.length > NAMED_FILES ? [...files.slice(0, NAMED_FILES), "…"] : files;
    const detail = `not applied yet: ${counted(files.length, "file")} (${named.join(", ")})`;
    const fix = "run `postern migrate`, or start Postern, which does it too";
    // Keys are stored in tables that may not be there yet.
    return [...findings, { check: "schema", status: "warn", detail, fix }];
  }
  findings.push({ check: "schema", status: "ok", detail: "up to date" }, await checkKeys(db, config));
  findings.push(
    ...(await checkLocks(db, config)),
    ...(await checkVacuum(db)),
    await checkClock(db),
    await checkWorkers(db),
  );
  return [...findings, ...(await checkArtifacts(db, config))];
}

/** Requests are signed with this machine's, and receivers refuse those of another time. */
async function checkClock(db: Pool): Promise<Finding> {
  const check = "clock";
  const askedAtMs = Date.now();
  const toldMs = Date.parse(await readDatabaseClock(db));
  const differenceMs = clockDifferenceMs({ askedAtMs, toldMs, answeredAtMs: Date.now() });
  if (!isWrongClock(differenceMs)) return { check, status: "ok", detail: "that of this machine" };
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  const detail = `${seconds} s ${differenceMs > 0 ? "behind" : "ahead of"} that of this machine`;
  return { check, status: "warn", detail, fix: "let both set their clocks by NTP" };
}

/** What a process found; `postern storage doctor` looks for itself. */
async function checkArtifacts(db: Pool, { objectStore }: Config): Promise<Finding[]> {
  const bucketName = objectStore.kind === "s3" ? objectStore.bucket : directoryBucketName(objectStore.shard);
  const { ownerTrouble, haltedAt, haltedReason } = await findStorageTroubles(db, bucketName);
  const findings: Finding[] = [];
  if (ownerTrouble !== null) {
    const fix = "find out whose the bucket is; `postern storage doctor` looks at it";
    findings.push({ check: "owner mark", status: "fail", detail: ownerTrouble, fix });
  }
  if (haltedAt !== null) {
    const detail = `stopped since ${haltedAt.toISOString()}: ${haltedReason ?? ""}`;
    findings.push({ check: "reconciling", status: "fail", detail, fix: HALT_REMEDY });
  }
  return findings;
}

async function checkServer(db: Pool, config: Config): Promise<Finding> {
  const check = "database";
  const server = await readServer(db);
  const unfit = findUnfit(server);
  const encoding = server.encoding === ENCODING ? "" : `, encoding ${server.encoding}`;
  const detail = `${nameDatabase(config)}, PostgreSQL ${server.version}${encoding}`;
  if (unfit !== null) return { check, status: "fail", detail, fix: unfit.fix };
  if (config.databaseUrl !== undefined) return { check, status: "ok", detail };
  const fix = "set DATABASE_URL to a server of your own, unless this is to try Postern";
  return { check, status: "warn", detail, fix };
}

/** Told only where there are none: a start and all that is accepted need them, and nothing else here does. */
async function checkWrites(db: Pool): Promise<Finding[]> {
  const check = "writes";
  if (await isReadOnly(db))
    return [{ check, status: "fail", detail: "the database is read-only", fix: MAKE_WRITABLE }];
  try {
    await tryNewPages(db);
    return [];
  } catch (error) {
    // A user without the right to temporary tables proves nothing.
    if (!isOfTheServer(error)) return [];
    const words = describeMistake(error) ?? messageOf(error);
    return [findingOf(check, "fail", { words, otherwise: "see the database's log" })];
  }
}

async function checkKeys(db: Pool, config: Config): Promise<Finding> {
  const check = "encryption key";
  const box = makeSecretBox(config.encryptionKeys);
  try {
    await requireKeysInUse(db, box);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = "add the former key to INTEGRATION_ENCRYPTION_KEY, behind a comma";
    return { check, status: "fail", detail: error.message, fix };
  }
  const forgotten = (await readKeyUse(db, box)).filter(({ place }) => place === "forgotten");
  if (forgotten.length === 0) return { check, status: "ok", detail: "opens every stored secret" };
  const secrets = forgotten.reduce((sum, use) => sum + use.secrets, 0);
  const detail = `opens every stored secret but ${secrets} of a key that was given up as lost`;
  const fix = "rotate these endpoints' secrets and give their masked headers again (docs/operating.md, Keys)";
  return { check, status: "warn", detail, fix };
}

export async function checkDns(servers: readonly string[]): Promise<Finding> {
  const check = "name servers";
  const resolver = makeResolver({ servers });
  try {
    const lookup = await resolver.resolve(KNOWN_NAME);
    // "No such name" is an answer too: there are networks that know no public names.
    if (lookup.kind === "found" || ["ENOTFOUND", "ENODATA"].includes(lookup.code)) {
      return { check, status: "ok", detail: "answer" };
    }
    const detail = `no answer for ${KNOWN_NAME} (${lookup.code}). Receivers' names can't be resolved`;
    return {
      check,
      status: "fail",
      detail,
      fix: "set DNS_SERVERS to name servers that this machine may ask",
    };
  } finally {
    resolver.close();
  }
}

/** Each shard's bucket, where there are several. */
export async function checkObjectStores(config: Config): Promise<Finding[]> {
  const { shards = [], objectStore } = config;
  if (objectStore.kind === "directory" || shards.length === 0) return checkObjectStore(config);
  const places = shards.map(({ name }, place) => (place === 0 ? config : withOwnBucket(config, name)));
  return (await Promise.all(places.map(checkObjectStore))).flat();
}

export async function checkObjectStore(config: Config): Promise<Finding[]> {
  const check = "object store";
  const { objectStore, dataDir, publicUrl, host, port, basePath } = config;
  const signer = makeLinkSigner(config.encryptionKeys);
  const endpoint = () => servedEndpoint({ publicUrl, host, port, basePath });
  const bucket = await openBucket({ objectStore, dataDir, signer, endpoint });
  try {
    await bucket.list({ after: null, limit: 1 });
    if (objectStore.kind === "directory") return [checkServedLinks(config)];
    const limits = { longestRetentionDays: config.artifactDays, waivers: objectStore.waivers };
    const faults = await checkBucket(bucket, limits);
    return [
      { check, status: "ok", detail: `bucket ${bucket.name} answers` },
      ...faults.map(({ rule, observed, remedy, isFatal }): Finding => {
        const detail = `bucket ${bucket.name}: rule ${rule} is ${observed}`;
        return { check, status: isFatal ? "fail" : "warn", detail, fix: remedy };
      }),
    ];
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    const fix = "check OBJECT_STORE_URL, that the bucket exists, and what the credential may do";
    return [{ check, status: "fail", detail: `bucket ${bucket.name}: ${error.message}`, fix }];
  } finally {
    bucket.close();
  }
}

function checkServedLinks({ publicUrl, host }: Config): Finding {
  const check = "object store";
  const isLocal = ["127.0.0.1", "::1", "localhost"].includes(host);
  if (publicUrl !== undefined || isLocal) return { check, status: "ok", detail: "a folder in DATA_DIR" };
  return {
    check,
    status: "warn",
    detail: "a folder in DATA_DIR; links to its files work on this machine alone",
    fix: "set PUBLIC_URL to the address under which clients reach the API",
  };
}
