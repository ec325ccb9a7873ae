/** Bodies of attempts in a real object store: delivered for real, found in the library, fetched by the store's own links. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { DeleteBucketPolicyCommand, PutBucketPolicyCommand } from "@aws-sdk/client-s3";
import { createEndpoint, listDeliveries, publish, type Delivery } from "./support/api.ts";
import { storageOf, type Artifact } from "./support/exports.ts";
import { startOnObjectStore, type OnObjectStore } from "./support/object-store.ts";
import { eventually } from "./support/eventually.ts";
import { prepareVersitygw } from "./support/versitygw.ts";
import { assertRefused, REFUSED, UNKNOWN_ID } from "./support/webhooks.ts";

const unavailable = prepareVersitygw();
const LONG = "é".repeat(1500);
const KEEP_ALL = { keep_request_bodies: true, keep_response_bodies: true, artifact_days: 2 };

describe("bodies of attempts in an object store", { skip: unavailable ?? false }, () => {
  let running: OnObjectStore;
  let storage: ReturnType<typeof storageOf>;
  let delivery: Delivery;
  before(async () => {
    running = await startOnObjectStore({ respond: () => ({ status: 200, body: LONG }) });
    storage = storageOf(running.service);
    await storage.call("PUT", "/settings", { json: KEEP_ALL });
    delivery = await deliver();
  });
  after(() => running?.stop());

  async function deliver(): Promise<Delivery> {
    const { service } = running;
    const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
    await publish(service, "invoice.paid", { data: { text: "ß\u0001😀" } });
    return eventually(async () => (await listDeliveries(service, endpoint.id, "?status=delivered"))[0]);
  }

  /** Waits for so many artifacts of a delivery. */
  async function artifactsOf({ id }: Delivery, count: number): Promise<Artifact[]> {
    return eventually(async () => {
      const { items } = await storage.library();
      const found = items.filter(({ delivery_id }) => delivery_id === id);
      return found.length === count && found;
    });
  }

  async function artifactOf(kind: Artifact["kind"]): Promise<Artifact> {
    const found = (await artifactsOf(delivery, 2)).find((item) => item.kind === kind);
    assert.ok(found !== undefined);
    return found;
  }

  it("are in the library, for as long as the tenant chose, and given by the store byte by byte", async () => {
    for (const [kind, text, type] of [
      ["request_body", delivery.request_body, "application/json"],
      ["response_body", LONG, "text/plain"],
    ] as const) {
      const item = await artifactOf(kind);
      assert.equal(item.status, "ready");
      assert.equal(Date.parse(item.expires_at ?? "") - Date.parse(item.available_at), 2 * 86_400_000);
      const { url } = await storage.link(item);
      assert.ok(url.startsWith(`${running.store.endpoint}/${running.bucket}/v1/t/`));
      const answer = await fetch(url);
      assert.equal(answer.headers.get("content-type"), type);
      assert.equal(answer.headers.get("content-disposition"), `attachment; filename="${item.filename}"`);
      assert.equal(await answer.text(), text);
    }
  });

  it("are given in ranges too, and by no link that is changed, past its time, or for another method", async () => {
    const { url } = await storage.link(await artifactOf("response_body"));
    const range = await fetch(url, { headers: { range: "bytes=2-5" } });
    assert.deepEqual(
      [range.status, await range.text(), range.headers.get("content-range")],
      [206, "éé", "bytes 2-5/3000"],
    );
    const beyond = await fetch(url, { headers: { range: "bytes=3000-" } });
    assert.equal(beyond.status, 416);
    const { url: other } = await storage.link(await artifactOf("request_body"));
    const [place = ""] = url.split("?");
    const [, othersQuery = ""] = other.split("?");
    const foul: [string, string, RequestInit?][] = [
      ["unsigned", place],
      ["another's signature", `${place}?${othersQuery}`],
      ["tampered", changed(url, /X-Amz-Signature=[0-9a-f]*([0-9a-f])/)],
      ["longer life", url.replace("X-Amz-Expires=300", "X-Amz-Expires=604800")],
      ["other version", changed(url, /versionId=([0-9A-Za-z])/)],
      ["HEAD", url, { method: "HEAD" }],
      ["PUT", url, { method: "PUT", body: "x" }],
      ["DELETE", url, { method: "DELETE" }],
    ];
    for (const [what, link, init] of foul) assert.equal((await fetch(link, init)).status, 403, what);
    const { url: short } = await storage.link(await artifactOf("response_body"), { ttl_seconds: 1 });
    await eventually(async () => (await fetch(short)).status === 403);
    assert.equal(await (await fetch(url)).text(), LONG);
  });

  it("are another tenant's to nobody, and closed at the deadline while the store still has them", async () => {
    const item = await artifactOf("request_body");
    const json = { delivery_id: item.delivery_id };
    const path = `/objects/${item.id}/download`;
    const as = { type: "user", tid: "globex", role: "owner" };
    assertRefused(await storage.call("POST", path, { as, json }), REFUSED.notFound);
    assertRefused(await storage.call("POST", path, { json: { delivery_id: UNKNOWN_ID } }), REFUSED.notFound);
    await running.service.database.pool.query(
      "UPDATE postern.stored_objects SET deadline = now() WHERE id = $1",
      [item.id],
    );
    assertRefused(await storage.call("POST", path, { json }), [410, { error: "Gone" }]);
  });
});

describe("an object store that everyone may read", { skip: unavailable ?? false }, () => {
  it("gets no artifact into the library until it is closed, and then the one that waited", async () => {
    const running = await startOnObjectStore({
      storageTimes: { firstPassAfterMs: 0, reconcileEveryMs: 300 },
    });
    try {
      const { client, bucket, service } = running;
      // After the start, which would have refused it.
      await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: readableByAll(bucket) }));
      const storage = storageOf(service);
      await storage.call("PUT", "/settings", { json: KEEP_ALL });
      const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
      await publish(service);
      await eventually(async () => (await listDeliveries(service, endpoint.id, "?status=delivered"))[0]);
      await eventually(async () => {
        const { text } = await service.call("GET", "/metrics", { as: null });
        return /^storage_bodies_waiting 1$/m.test(text);
      });
      await running.age();
      await eventually(async () => {
        const { text } = await service.call("GET", "/metrics", { as: null });
        return /storage_reconcile_decisions_total\{decision="awaiting"\} [1-9]/.test(text);
      });
      assert.deepEqual((await storage.library()).items, []);
      await client.send(new DeleteBucketPolicyCommand({ Bucket: bucket }));
      await eventually(async () => (await storage.library()).items.length === 1);
    } finally {
      await running.stop();
    }
  });
});

function readableByAll(bucket: string): string {
  const Resource = `arn:aws:s3:::${bucket}/*`;
  const Statement = [{ Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource }];
  return JSON.stringify({ Version: "2012-10-17", Statement });
}

/** The link with the character changed that the pattern's group finds. */
function changed(link: string, pattern: RegExp): string {
  const found = pattern.exec(link);
  assert.ok(found?.[1] !== undefined);
  const at = found.index + found[0].length - 1;
  return `${link.slice(0, at)}${found[1] === "0" ? "1" : "0"}${link.slice(at + 1)}`;
}
