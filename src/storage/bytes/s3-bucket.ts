/**
 * A bucket of an S3-style object store, through the AWS SDK.
 *
 * The SDK is loaded only here and only when a bucket is configured. It dials
 * what the operator configured, never what a tenant gave, so it bypasses
 * the guard that judges webhook targets.
 *
 * An upload says that nothing may be there and what its SHA-256 is; a deletion
 * names its version. Both hold in every store that was tried, unlike conditions
 * on deletion.
 */
import { Readable } from "node:stream";
import { parseObjectKey } from "../rules/object-key.ts";
import { MAX_OBJECT_BYTES } from "../rules/values.ts";
import type { HeadAnswer, HeadRequest } from "../rules/ports.ts";
import {
  NOT_UPLOADED,
  requireBucket,
  StoreUnavailableError,
  type Bucket,
  type OpenedObject,
  type StoredVersion,
  type Upload,
} from "./bucket.ts";
import type { S3Location } from "./object-store-url.ts";
import { contentTypeOf, OWN_PREFIX } from "./own-keys.ts";
import { readS3Config } from "./s3-config.ts";
import { refusalOf, unavailable } from "./s3-errors.ts";
import type * as sdkModule from "./s3-sdk.ts";
import type { GetObjectCommandInput, ListObjectVersionsCommandOutput, S3Client } from "./s3-sdk.ts";

const CONNECT_LIMIT_MS = 3000;
/** For an answer; bytes have longer. */
const ANSWER_LIMIT_MS = 15_000;
/** A connection on which nothing moves for so long is dead. */
const IDLE_LIMIT_MS = 30_000;
/** The slowest upload that is waited for, in bytes a second. */
const SLOWEST_UPLOAD = 256 * 1024;
const ATTEMPTS = 3;
/** The name of what a bucket took while it kept no versions. */
const NO_VERSION = "null";
/** The SDK would print on the console what it throws as well. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** The slash of their prefix, and the character after it. */
const BEHIND_OWN_KEYS = OWN_PREFIX.replace("/", "0");

type S3Store = { sdk: typeof sdkModule; client: S3Client; name: string };

/** Connects when first used. Credentials come from the SDK's chain: environment, profile, role. */
export async function makeS3Bucket(location: S3Location): Promise<Bucket> {
  const sdk = await import("./s3-sdk.ts");
  const { bucket: name, region } = location;
  const endpoint = location.endpoint ?? awsEndpoint(region);
  const client: S3Client = new sdk.S3Client({
    region,
    endpoint,
    forcePathStyle: true,
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_LIMIT_MS, socketTimeout: IDLE_LIMIT_MS },
    logger: SILENT,
    // Each upload brings its SHA-256; other checksums would only cost.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const store: S3Store = { sdk, client, name };
  return {
    name,
    endpoint() {
      const { protocol, host } = new URL(endpoint);
      return { scheme: protocol === "http:" ? "http" : "https", host, path_prefix: "" };
    },
    async credentialExpiresAt() {
      try {
        const { expiration } = await client.config.credentials();
        return expiration?.toISOString() ?? null;
      } catch (error) {
        throw unavailable("be signed for, as no credential was found", error);
      }
    },
    head: (request) => head(store, request),
    get: (request) => get(store, request),
    put: (upload) => put(store, upload),
    list: (page) => list(store, page),
    versions: (prefix) => versions(store, prefix),
    deleteVersion: (version) => deleteVersion(store, version),
    readConfig: () => readS3Config({ sdk, client, bucket: name }, answerLimit),
    signGet: (request) => signGet(store, request),
    close: () => client.destroy(),
  };
}

/** "No such object" and "no such bucket" are one answer to a HEAD: only the first is an answer to us. */
async function requireExistingBucket({ sdk, client, name }: S3Store): Promise<void> {
  try {
    await client.send(new sdk.HeadBucketCommand({ Bucket: name }), answerLimit());
  } catch (error) {
    throw unavailable(`reach the bucket ${name}`, error);
  }
}

async function head(store: S3Store, { bucket, key, version_id }: HeadRequest): Promise<HeadAnswer> {
  const { sdk, client, name } = store;
  requireBucket({ name }, bucket);
  contentTypeOf(key);
  if (version_id === NOT_UPLOADED) return { found: false };
  const version = version_id === null ? {} : { VersionId: version_id };
  try {
    const command = new sdk.HeadObjectCommand({
      Bucket: name,
      Key: key,
      ...version,
      ChecksumMode: "ENABLED",
    });
    const found = await client.send(command, answerLimit());
    return {
      found: true,
      size: found.ContentLength ?? 0,
      etag: plainEtag(found.ETag),
      version_id: knownVersion(found.VersionId),
      sha256: hexDigest(found.ChecksumSHA256),
      content_type: found.ContentType ?? "",
      last_modified: instantOf(found.LastModified),
    };
  } catch (error) {
    if (!isAbsence(error)) throw unavailable("answer for an object (s3:GetObjectVersion)", error);
  }
  await requireExistingBucket(store);
  return { found: false };
}

async function get(
  store: S3Store,
  { key, versionId, range }: Parameters<Bucket["get"]>[0],
): Promise<OpenedObject> {
  const { sdk, client, name } = store;
  contentTypeOf(key);
  const answered = new AbortController();
  const limit = setTimeout(() => answered.abort(), ANSWER_LIMIT_MS);
  try {
    const input: GetObjectCommandInput = { Bucket: name, Key: key, VersionId: versionId };
    if (range !== undefined) input.Range = `bytes=${range.start}-${range.end}`;
    const found = await client.send(new sdk.GetObjectCommand(input), { abortSignal: answered.signal });
    const { Body: source } = found;
    if (!(source instanceof Readable)) throw new TypeError("the SDK gave no stream");
    const body = Readable.from(wholeOf(source), { objectMode: false });
    // A generator that was never begun ends nothing: an unread object would keep its connection.
    body.once("close", () => source.destroy());
    const total = /\/([0-9]+)$/.exec(found.ContentRange ?? "")?.[1];
    const size = total === undefined ? (found.ContentLength ?? 0) : Number(total);
    return { found: true, size, body };
  } catch (error) {
    if (!isAbsence(error)) throw unavailable("give an object (s3:GetObjectVersion)", error);
  } finally {
    clearTimeout(limit);
  }
  await requireExistingBucket(store);
  return { found: false };
}

/** A connection that breaks in the middle is the store's fault, not the reader's. */
async function* wholeOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw unavailable("give all of an object", error);
  }
}

async function put(store: S3Store, upload: Upload): ReturnType<Bucket["put"]> {
  const answer = await putNew(store, upload);
  if (answer.code === "stored" || !(await isThereWithoutVersion(store, upload))) return answer;
  // An earlier try stored these bytes while the bucket kept no versions. No row can name them.
  await deleteVersion(store, { key: upload.key, versionId: NO_VERSION });
  return putNew(store, upload);
}

async function isThereWithoutVersion(store: S3Store, { key, size, sha256 }: Upload): Promise<boolean> {
  const found = await head(store, { bucket: store.name, key, version_id: null });
  return found.found && found.version_id === null && found.size === size && found.sha256 === sha256;
}

async function putNew(
  { sdk, client, name }: S3Store,
  { key, size, sha256, open }: Upload,
): ReturnType<Bucket["put"]> {
  const body = open();
  const limitMs = ANSWER_LIMIT_MS + Math.ceil(size / SLOWEST_UPLOAD) * 1000;
  const broken = new AbortController();
  const abortSignal = AbortSignal.any([broken.signal, AbortSignal.timeout(limitMs)]);
  // The SDK does not look at errors of what it reads, and would wait for bytes that never come.
  body.once("error", (error) => broken.abort(error));
  const command = new sdk.PutObjectCommand({
    Bucket: name,
    Key: key,
    Body: body,
    ContentLength: size,
    ContentType: contentTypeOf(key),
    ChecksumSHA256: Buffer.from(sha256, "hex").toString("base64"),
    IfNoneMatch: "*",
  });
  try {
    const stored = await client.send(command, { abortSignal });
    const versionId = knownVersion(stored.VersionId);
    if (versionId === null) throw new StoreUnavailableError(`bucket ${name} keeps no versions: enable them`);
    return { code: "stored", versionId, etag: plainEtag(stored.ETag) };
  } catch (error) {
    if (refusalOf(error).status === 412) return { code: "exists" };
    if (error instanceof StoreUnavailableError) throw error;
    throw unavailable("take an object (s3:PutObject)", error);
  } finally {
    body.destroy();
  }
}

async function list(store: S3Store, page: Parameters<Bucket["list"]>[0]): ReturnType<Bucket["list"]> {
  const listed = await listAll(store, page);
  if (page.prefix !== undefined) return listed;
  const objects = listed.objects.filter(({ key }) => !key.startsWith(OWN_PREFIX));
  if (objects.length > 0 || !listed.isTruncated) return { ...listed, objects };
  // Nothing but own keys, which lie together: on behind the last of them.
  return list(store, { ...page, after: BEHIND_OWN_KEYS });
}

async function listAll(
  { sdk, client, name }: S3Store,
  { after, limit, prefix }: Parameters<Bucket["list"]>[0],
): ReturnType<Bucket["list"]> {
  const start = after === null ? {} : { StartAfter: after };
  const within = prefix === undefined ? {} : { Prefix: prefix };
  // Keys come encoded: a planted one may hold what XML cannot.
  const input = { Bucket: name, ...start, ...within, MaxKeys: limit, EncodingType: "url" } as const;
  try {
    const page = await client.send(new sdk.ListObjectsV2Command(input), answerLimit());
    const objects = (page.Contents ?? []).map((object) => ({
      key: decodedKey(object.Key),
      size: Math.min(object.Size ?? 0, MAX_OBJECT_BYTES),
      etag: plainEtag(object.ETag),
      last_modified: instantOf(object.LastModified),
    }));
    return { objects, isTruncated: page.IsTruncated === true };
  } catch (error) {
    throw unavailable("list its objects (s3:ListBucket)", error);
  }
}

async function* versions({ sdk, client, name }: S3Store, prefix: string): AsyncGenerator<StoredVersion> {
  let from: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | null = {};
  while (from !== null) {
    const input = { Bucket: name, Prefix: prefix, EncodingType: "url", ...from } as const;
    const page: ListObjectVersionsCommandOutput = await client
      .send(new sdk.ListObjectVersionsCommand(input), answerLimit())
      .catch((error: unknown) => {
        throw unavailable("list its versions (s3:ListBucketVersions)", error);
      });
    for (const { Key, VersionId = NO_VERSION } of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]) {
      const key = decodedKey(Key);
      if (parseObjectKey(key).code === "OK") yield { key, versionId: VersionId };
    }
    from =
      page.IsTruncated === true
        ? { KeyMarker: decodedKey(page.NextKeyMarker), VersionIdMarker: page.NextVersionIdMarker }
        : null;
  }
}

async function deleteVersion(
  { sdk, client, name }: S3Store,
  { key, versionId }: Parameters<Bucket["deleteVersion"]>[0],
): Promise<void> {
  contentTypeOf(key);
  try {
    const command = new sdk.DeleteObjectCommand({ Bucket: name, Key: key, VersionId: versionId });
    await client.send(command, answerLimit());
  } catch (error) {
    const { name: code } = refusalOf(error);
    // An id that cannot be a version of this key is as gone as one that was deleted.
    if (["NoSuchKey", "NoSuchVersion", "InvalidArgument"].includes(code)) return;
    throw unavailable("delete an object (s3:DeleteObjectVersion)", error);
  }
}

async function signGet(
  { sdk, client, name }: S3Store,
  request: Parameters<Bucket["signGet"]>[0],
): ReturnType<Bucket["signGet"]> {
  requireBucket({ name }, request.bucket);
  contentTypeOf(request.key);
  const command = new sdk.GetObjectCommand({
    Bucket: name,
    Key: request.key,
    VersionId: request.version_id,
    ResponseContentType: request.response_content_type,
    ResponseContentDisposition: request.response_content_disposition,
  });
  const times = { expiresIn: request.expires_in, signingDate: new Date(request.issued_at) };
  try {
    return { url: await sdk.getSignedUrl(client, command, times) };
  } catch (error) {
    throw unavailable("be signed for", error);
  }
}

function decodedKey(encoded: string | undefined): string {
  return decodeURIComponent((encoded ?? "").replaceAll("+", " "));
}

function answerLimit(): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(ANSWER_LIMIT_MS) };
}

function ignore(): void {}

function awsEndpoint(region: string): string {
  return `https://s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}

/** A version that marks a deletion answers 405. */
function isAbsence(error: unknown): boolean {
  const { status, name } = refusalOf(error);
  return (status === 404 && name !== "NoSuchBucket") || status === 405;
}

function plainEtag(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}

function knownVersion(versionId: string | undefined): string | null {
  return versionId === undefined || versionId === NO_VERSION ? null : versionId;
}

/** Null also for the digest of digests that uploads in parts have. */
function hexDigest(base64: string | undefined): string | null {
  return base64 !== undefined && /^[A-Za-z0-9+/]{43}=$/.test(base64)
    ? Buffer.from(base64, "base64").toString("hex")
    : null;
}

function instantOf(date: Date | undefined): string {
  if (date === undefined) throw new StoreUnavailableError("the object store returned no time of an object");
  return date.toISOString();
}
