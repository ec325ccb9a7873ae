/** Trials of links, at a store that answers as each test says. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { tmpdir } from "node:os";
import { after, before, beforeEach, describe, it } from "node:test";
import { newKey } from "../../../test/support/bucket-contract.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { listen } from "../../../test/support/tls-receiver.ts";
import { createTenantPool, type TenantPool } from "../../database/tenant-pool.ts";
import { makeDirectoryBucket } from "../bytes/directory-bucket.ts";
import { makeLinkSigner } from "../bytes/file-links.ts";
import { describeTrial, makeLinkProbes, type LinkProbes } from "./link-probes.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { probeName, REQUIRED_PROBES } from "../rules/validate-delivery.ts";

const signer = makeLinkSigner([randomBytes(32)]);
let database: TestDatabase;
let tenants: TenantPool;
let server: Server;
let port: number;
/** What was asked for, in its order. */
let asked: string[];
/** What the store makes of a request that its signer finds good, or not. */
let statusOf: (request: IncomingMessage, isGood: boolean) => number;

before(async () => {
  database = await createTestDatabase();
  const name = "link probes test";
  tenants = createTenantPool({
    url: database.url,
    poolSize: 1,
    applicationName: name,
    connectionTimeoutMs: 5000,
  });
  server = createServer((request, answer) => {
    asked.push(request.url ?? "");
    const [place = "", query = ""] = (request.url ?? "").slice(1).split("?");
    const isGood = request.method === "GET" && (signer.verify({ place, query })?.endsAtMs ?? 0) > Date.now();
    answer.writeHead(statusOf(request, isGood), { location: "/elsewhere" }).end();
  });
  port = await listen(server);
});
after(async () => {
  server.close();
  await tenants.end();
  await database.drop();
});
beforeEach(() => {
  asked = [];
  statusOf = rightStatus;
});

function rightStatus({ headers }: IncomingMessage, isGood: boolean): number {
  if (!isGood) return 403;
  return headers.range === undefined ? 200 : 206;
}

function newProbes(reach = (url: string) => url): LinkProbes {
  const endpoint = { scheme: "http", host: `127.0.0.1:${port}`, path_prefix: "" } as const;
  // Of the bucket only the links are used.
  const bucket = makeDirectoryBucket({ root: tmpdir(), signer, endpoint: () => endpoint });
  return makeLinkProbes({ bucket, tenants, reach });
}

function object(): StoredObject {
  const key = newKey();
  return {
    id: randomUUID(),
    tenant_id: key.split("/")[2] ?? "",
    delivery_id: key.split("/")[4] ?? "",
    attempt: 1,
    kind: "request_body",
    bucket: "artifacts",
    key,
    version_id: "1",
    size: 1,
    etag: "1",
    sha256: "0".repeat(64),
    content_type: "application/json",
    state: "pending",
    state_since: now(),
    available_at: null,
    deadline: null,
    hold: false,
    revision: 2,
  };
}

function now(): string {
  return new Date().toISOString();
}

async function failing(probes: LinkProbes): Promise<string[]> {
  const found = await probes.sample(object(), now());
  return found.filter(({ probe, status }) => status !== REQUIRED_PROBES[probe]).map(({ probe }) => probe);
}

/** Its signature ends so. */
function withDigit(url: string | undefined, digit: string): string {
  return url?.replace(/(X-Amz-Signature=[0-9a-f]*)[0-9a-f]/, `$1${digit}`) ?? "";
}

describe("a trial of links", () => {
  it("asks each of the eight once, and is believed for later objects where all is right", async () => {
    const probes = newProbes();
    const found = await probes.run(object(), now());
    assert.deepEqual(Object.fromEntries(found.map(({ probe, status }) => [probe, status])), REQUIRED_PROBES);
    assert.deepEqual([found.length, asked.length], [8, 7]);
    assert.deepEqual([await failing(probes), await failing(probes), asked.length], [[], [], 14]);
  });

  for (const [store, trustMs] of [
    ["where all is right", 600_000],
    ["that found a fault", 1000],
  ] as const) {
    it(`${store} is believed for ${trustMs} ms`, async (test) => {
      let nowMs = 0;
      test.mock.method(performance, "now", () => nowMs);
      if (trustMs === 1000) statusOf = () => 404;
      const probes = newProbes();
      const counts: number[] = [];
      for (const passedMs of [0, trustMs, trustMs + 1]) {
        nowMs = passedMs;
        await probes.sample(object(), now());
        counts.push(asked.length);
      }
      assert.deepEqual(counts, [7, 7, 14]);
    });
  }

  it("tampers with the last digit of the signature, and with nothing else", async () => {
    for (const [digit, other] of [
      ["0", "1"],
      ["1", "0"],
      ["f", "0"],
    ] as const) {
      asked = [];
      await newProbes((url) => withDigit(url, digit)).run(object(), now());
      assert.match(asked[0] ?? "", new RegExp(`X-Amz-Signature=[0-9a-f]+${digit}(?:&|$)`));
      assert.equal(asked[4], withDigit(asked[0], other));
    }
  });

  it("finds a store that serves everyone, and says what to do", async () => {
    statusOf = () => 200;
    const probes = await newProbes().run(object(), now());
    const text = describeTrial(probes, ["tampered_get", "unsigned_get"]);
    assert.match(text, /unsigned_get was answered 200 instead of 403/);
    assert.match(text, /tampered_get was answered 200 instead of 403/);
    assert.equal(text.match(/the bucket must not be public/g)?.length, 1);
  });

  it("says of each failure what to do: of links that fail, of what is open to others, of another tenant's eyes", () => {
    for (const probe of probeName.options) {
      const remedy =
        REQUIRED_PROBES[probe] < 300 ? /^set this machine's clock right, / : /^the bucket must not /;
      const expected = probe === "foreign_tenant_api" ? /^the database shows a tenant another's / : remedy;
      assert.match(describeTrial([], [probe]), expected, probe);
    }
  });

  it("follows no store that leads elsewhere: what is answered there is not its own answer", async () => {
    statusOf = (request, isGood) =>
      isGood ? rightStatus(request, isGood) : request.url === "/elsewhere" ? 403 : 302;
    assert.deepEqual(await failing(newProbes()), [
      "head_with_get_url",
      "unsigned_get",
      "tampered_get",
      "expired_get",
      "other_key_get",
    ]);
  });

  it("that found a fault is made again for objects that come a moment later", async () => {
    const probes = newProbes();
    statusOf = (request, isGood) => (isGood ? 404 : rightStatus(request, isGood));
    assert.deepEqual(await failing(probes), ["owner_get", "range_get"]);
    statusOf = rightStatus;
    await eventually(async () => (await failing(probes)).length === 0);
  });

  it("returns no verdict if the store fails", async () => {
    const probes = newProbes();
    statusOf = () => 503;
    const message = "a signed link could not be tried: the answer was 503";
    await assert.rejects(probes.sample(object(), now()), { name: "StoreUnavailableError", message });
    statusOf = rightStatus;
    assert.deepEqual(await failing(probes), []);
  });

  it("says why no answer came, and not the link itself", async () => {
    const nobodys = `127.0.0.1:${await freePort()}`;
    const probes = newProbes((url) => url.replace(`127.0.0.1:${port}`, nobodys));
    const message = `a signed link could not be tried: connect ECONNREFUSED ${nobodys}`;
    await assert.rejects(probes.sample(object(), now()), { name: "StoreUnavailableError", message });
  });
});
