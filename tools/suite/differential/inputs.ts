/** One random input for each family, with the answers its services will give. */
import { REQUIRED_PROBES } from "../../../src/storage/rules/validate-delivery.ts";
import { DAY_MS, fromMs, LAST_INSTANT_MS, toMs } from "../../../src/storage/rules/instants.ts";
import type { FamilyName } from "../families.ts";
import { textOf, type Json, type JsonObject } from "../json.ts";
import type { ScriptedCall } from "../ports.ts";
import { archiveInput } from "./archives.ts";
import {
  anyAttempt,
  authorizeAnswer,
  BUCKET,
  caller,
  corruptKey,
  deliveryId,
  foreignKey,
  headAnswer,
  id,
  listed,
  manyId,
  now,
  objectKey,
  OTHER,
  OWN,
  revisionNumber,
  row,
} from "./artifacts.ts";
import type { Random } from "./random.ts";

export interface Question {
  family: FamilyName;
  input: Json;
  calls: ScriptedCall[];
  /** Whether the schemas are asked too if they admit the input: always where it may be spoiled. */
  check: boolean;
}

type Generator = (random: Random) => { input: JsonObject; calls: ScriptedCall[] };

export const GENERATORS: Readonly<Record<FamilyName, Generator>> = {
  authorize_download: (random) => {
    const request = downloadRequest(random);
    return { input: request, calls: [authorizeAnswer(random, request.object_id, request.delivery_id)] };
  },
  derive_deadline: deadlineQuestion,
  evaluate_expiry: (random) => {
    const { state = "", deadline = null, hold = false, revision = 1 } = row(random);
    return {
      input: { object: { id: id("c0"), state, deadline, hold, revision }, now: now(random) },
      calls: [],
    };
  },
  issue_signed_url: linkQuestion,
  project_library: libraryQuestion,
  reconcile_objects: pageQuestion,
  validate_archive: (random) => ({ input: archiveInput(random), calls: [] }),
  validate_bucket: (random) => ({ input: bucketInput(random), calls: [] }),
  validate_delivery: deliveryQuestion,
  validate_object_key: (random) => ({ input: keyInput(random), calls: [] }),
};

function deadlineQuestion(random: Random) {
  const available_at = random.nullable(() => random.instant());
  const plan_days = random.pick([1, 7, 10, 3650]);
  const tenant_days = random.nullable(() => random.pick([1, 7, 9, 30, 100, 3650]));
  const end = toMs(available_at ?? random.now) + Math.min(plan_days, tenant_days ?? plan_days) * DAY_MS;
  // At the end of the days and beside it, or anywhere.
  const near = () =>
    random.once(3) ? fromMs(Math.min(end + random.pick([-1, 0, 0, 1]), LAST_INSTANT_MS)) : random.instant();
  return {
    input: {
      object_id: id("c0"),
      revision: revisionNumber(random),
      available_at,
      plan_days,
      tenant_days,
      hold_until: random.nullable(near),
      previous_deadline: random.nullable(near),
    },
    calls: [],
  };
}

function libraryQuestion(random: Random) {
  const count = random.size(8, 1000);
  // Many deliveries where there are many rows; else they would all supersede each other.
  const deliveries = random.pick([5, count + 1]);
  const rows = Array.from({ length: count }, (_, index) =>
    row(random, {
      // Ids are unique, as the table's primary key makes them, and in no order.
      id: manyId(0xc, (7919 * index) % 65_536),
      delivery_id: manyId(0xd, random.integer(1, deliveries)),
      ...(random.once(20 + 3 * count) ? {} : { tenant_id: OWN }),
      ...(count > 40 ? { attempt: random.integer(1, 999) } : {}),
    }),
  );
  return {
    input: {
      tenant_id: OWN,
      now: now(random),
      rows,
      after: random.nullable(() => ({
        available_at: random.instant(),
        id: manyId(0xc, random.integer(0, 65_535)),
      })),
      limit: random.pick([1, 2, 3, 9, 10, 63, 99, 100]),
    },
    calls: [],
  };
}

function downloadRequest(random: Random) {
  return { caller: caller(random), object_id: id("c0"), delivery_id: deliveryId(random), now: now(random) };
}

function linkQuestion(random: Random) {
  const request = downloadRequest(random);
  const endpoint = {
    scheme: random.mostly("https", "http"),
    host: random.pick(["store.example.invalid", "127.0.0.1:9000", "localhost", "[::1]:80", "1127.0.0.1"]),
    path_prefix: random.pick(["", "/files"]),
  };
  const ttl = random.pick([1, 60, 300, 604_800]);
  const object = row(random, {
    id: request.object_id,
    tenant_id: OWN,
    delivery_id: request.delivery_id,
    state: "available",
    deadline: random.nullable(() => soonAfter(random, request.now)),
  });
  const answer: ScriptedCall = {
    service: "database",
    method: "authorize",
    result: { found: true, object, delivery: { id: request.delivery_id, tenant_id: OWN } },
  };
  const maxTtl = random.pick([1, 60, 3600, 604_800]);
  const credential = random.once(3) ? soonAfter(random, request.now) : null;
  const url = signedUrl(random, endpoint, object, {
    // As near as a guess comes; the exact rule is what is under test.
    seconds: Math.min(ttl, maxTtl, ...[object["deadline"], credential].flatMap(secondsAfter(request.now))),
    now: request.now,
  });
  return {
    input: {
      ...request,
      grant_id: id("a3"),
      ttl_seconds: ttl,
      max_ttl_seconds: maxTtl,
      credential_expires_at: credential,
      endpoint,
    },
    calls: [
      random.mostly(answer, authorizeAnswer(random, request.object_id, request.delivery_id)),
      headAnswer(random, random.once(20)),
      { service: "signer", method: "signGet", result: { url } },
    ],
  };
}

/** About as long after an instant as a link may live, within the range of instants. */
function soonAfter(random: Random, instant: string): string {
  const after = toMs(instant) + random.pick([1, 999, 1000, 1001, 90_500, 400_000, 4_000_000]);
  return fromMs(Math.min(after, LAST_INSTANT_MS));
}

function secondsAfter(now: string) {
  const start = Math.floor(toMs(now) / 1000);
  return (instant: Json | undefined) =>
    typeof instant === "string" ? [Math.floor(toMs(instant) / 1000) - start] : [];
}

function signedUrl(
  random: Random,
  endpoint: { scheme: string; host: string; path_prefix: string },
  object: JsonObject,
  asked: { seconds: number; now: string },
): string {
  const date = `${asked.now.slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  const pairs = [
    "X-Amz-Algorithm=AWS4-HMAC-SHA256",
    `X-Amz-Date=${random.mostly(date, "20260310T120001Z")}`,
    `X-Amz-Expires=${random.mostly(asked.seconds, asked.seconds + 1, 90, 1)}`,
    `X-Amz-SignedHeaders=${random.mostly("host", "host%3Brange")}`,
    `X-Amz-Signature=${"0".repeat(64)}`,
    `versionId=${random.mostly(textOf(object["version_id"]), "v-9")}`,
  ];
  const extra = random.mostly("", "X-Amz-Expires=1", "", "x-id=GetObject", "a=%2f", "a", "a=b#c", "=");
  if (extra !== "") pairs.splice(random.integer(0, pairs.length), 0, extra);
  const path = `${endpoint.path_prefix}/${BUCKET}/${textOf(object["key"])}`;
  return `${endpoint.scheme}://${endpoint.host}${random.mostly(path, `${path}/`, "/")}?${pairs.join("&")}`;
}

function pageQuestion(random: Random) {
  const count = random.size(5, 900);
  const keys = new Set(
    Array.from({ length: count }, (_, index) => pageKey(random, count > 5 ? index : null)),
  );
  const sorted = [...keys].toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const isDisordered = random.once(25);
  const order = <Item>(items: Item[]) => (isDisordered && random.once(2) ? items.toReversed() : items);
  // A whole page of losses now and then: that is what the blast radius is for.
  const isLost = random.once(count > 40 ? 2 : 3);
  const rows = sorted
    .filter((key) => !random.once(isLost ? 30 : 3) && /^[!-~]{1,1024}$/.test(key))
    .map((key) =>
      row(random, {
        key,
        ...(random.once(40 + 3 * count) ? { bucket: "other-bucket" } : {}),
        ...(isLost ? { state: "available", state_since: random.longAgo() } : {}),
      }),
    );
  const objects = sorted.filter(() => random.once(isLost ? 20 : 2)).map((key) => listed(random, key));
  const hasRow = new Set(rows.map((one) => textOf(one["key"])));
  const hasObject = new Set(objects.map((one) => textOf(one["key"])));
  const marks = sorted
    .filter(() => (isLost ? !random.once(20) : random.once(2)))
    .map((key) => ({
      key,
      class: markClass(random, hasRow.has(key), hasObject.has(key)),
      first_seen_at: isLost && !random.once(6) ? random.longAgo() : random.past(),
      run_id: random.mostly(id("e0"), id("e1")),
    }));
  const last = marks.at(-1);
  if (random.once(40) && last !== undefined) marks.push(last);
  const doubled = objects.at(-1);
  if (random.once(40) && doubled !== undefined) objects.push(doubled);
  return {
    input: {
      run: {
        run_id: id("e1"),
        next_sequence: random.pick([1, 41, 2_147_483_640, 9_000_000_000_000_000]),
        batch_size: count > 5 ? random.mostly(1000, count, 10) : random.mostly(10, 2, 3),
        max_destructive: count > 40 ? random.pick([100, 100, 63, 8]) : random.pick([10, 10, 0, 1, 7, 8, 9]),
      },
      now: random.now,
      bucket: BUCKET,
      after: random.once(15) ? pageKey(random, null) : null,
      rows: order(rows),
      rows_truncated: random.once(4),
      objects: order(objects),
      objects_truncated: random.once(4),
      marks: order(marks),
    },
    calls: Array.from({ length: sorted.length + 3 }, () =>
      isLost && !random.once(8)
        ? { service: "storage", method: "head", result: { found: false } }
        : headAnswer(random, true),
    ),
  };
}

/** Mostly the class that the key will be found in. */
function markClass(random: Random, hasRow: boolean, hasObject: boolean): string {
  if (random.once(8) || (hasRow && hasObject)) return random.pick(["identity_mismatch", "adoptable"]);
  return hasRow ? "row_without_object" : "object_without_row";
}

/** A key of a delivery; of its own delivery where it has a number. */
function pageKey(random: Random, number: number | null): string {
  if (random.once(10)) return foreignKey(random);
  const delivery = number === null ? deliveryId(random) : manyId(0xd, number);
  const parts = { tenant_id: OWN, delivery_id: delivery, attempt: 1, kind: "export" };
  return objectKey(random, parts).slice(0, 512).toWellFormed();
}

function flags(value: boolean): JsonObject {
  return {
    block_public_acls: value,
    ignore_public_acls: true,
    block_public_policy: true,
    restrict_public_buckets: true,
  };
}

function bucketInput(random: Random): JsonObject {
  const probe = (usual: Json, ...others: [Json, ...Json[]]) =>
    random.mostly<Json>(usual, null, "unsupported", ...others);
  return {
    bucket: random.mostly(
      BUCKET,
      "unsupported",
      "a.b",
      "-ab",
      "ab",
      "xn--a",
      "a--x-s3",
      "A",
      "a".repeat(63),
      "a".repeat(64),
    ),
    longest_retention_days: random.pick([1, 365]),
    config: {
      public_access_block: probe(flags(true), flags(false)),
      policy_status: probe({ is_public: false }, { is_public: true }),
      ownership: probe("BucketOwnerEnforced", "ObjectWriter"),
      versioning: probe("Enabled", "Suspended"),
      encryption: probe({ algorithm: "AES256" }, { algorithm: "none" }, { algorithm: "unsupported" }),
      tls_only: probe(true, false),
      abort_multipart_days: probe(7, 0, 1, 8),
      noncurrent_days: probe(30, 0, 1, 9, 10, 31, 100),
      current_expiration_days: probe(null, 1, 2, 365, 366),
      cors_origins: probe([], ["https://app.example.invalid"], ["*"]),
    },
    waivers: random.once(2) ? [] : ["BR-05", "BR-02", "BR-11", "BR-01"].slice(random.integer(0, 3)),
  };
}

function deliveryQuestion(random: Random) {
  const delivery = deliveryId(random);
  const attempt = anyAttempt(random);
  const object = row(random, {
    tenant_id: OWN,
    delivery_id: delivery,
    attempt,
    state: random.mostly("pending", "available"),
  });
  const probes = Object.entries(REQUIRED_PROBES)
    .filter(() => !random.once(50))
    .map(([probe, status]) => ({ probe, status: random.once(40) ? 200 : status }));
  if (random.once(12) && probes[0] !== undefined) probes.push(probes[0]);
  return {
    input: {
      delivery: {
        id: random.mostly(delivery, id("d4")),
        tenant_id: random.mostly(OWN, OTHER),
        latest_attempt: random.mostly(attempt, 2, 10, 999),
      },
      object,
      archive_code: random.pick(["VALID", "VALID", "LAYOUT", null]),
      probes: random.once(2) ? probes : probes.toReversed(),
      now: now(random),
    },
    calls: [headAnswer(random, random.once(20))],
  };
}

function keyInput(random: Random): JsonObject {
  const parts = {
    tenant_id: random.mostly(OWN, OTHER),
    delivery_id: deliveryId(random),
    attempt: random.once(12) ? 1000 : anyAttempt(random),
    kind: random.pick(["request_body", "response_body", "export"]),
  };
  if (random.once(4)) return { mode: "build", ...parts };
  const keys = Array.from({ length: random.integer(1, 4) }, () => {
    if (random.once(30)) return "";
    // As many characters as there may be bytes, or fewer.
    if (random.once(20))
      return random.pick(["\u00e9", "\u{10437}", "a"]).repeat(random.pick([256, 257, 513, 1024, 1025]));
    let key = random.once(6) ? foreignKey(random) : objectKey(random, parts);
    while (random.once(2)) key = corruptKey(random, key);
    return Array.from(key).slice(0, 2048).join("");
  });
  return { mode: "parse", tenant_id: OWN, keys };
}
