/** What watchers of the log cost the process that serves them: CPU with and without them, at the same load. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { ownerOf, producerOf } from "./callers.ts";
import { openConnection, sendSteadily } from "./generator.ts";
import { costOf, type Program, type Stand } from "./stand.ts";

const TENANTS = 10;
const WATCHERS_OF_TENANT = 10;
/** Of all tenants together, in batches of ten events. */
const PER_SECOND = 2000;
const BATCH = 10;
const SECONDS = 10;
const BATCH_BODY = `[${Array.from({ length: BATCH }, () => '{"type":"invoice.paid","data":{}}').join(",")}]`;

const tenantIds = Array.from({ length: TENANTS }, (_, n) => `watched-${n}`);

type Watching = { seen: () => number; end: () => void };

async function watch(stand: Stand, program: Program, tid: string): Promise<Watching> {
  const { host, port, path, token } = await stand.target(program, "/api/deliveries/stream", ownerOf(tid));
  let seen = 0;
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      assert.equal(answer.statusCode, 200);
      answer.on("error", () => undefined);
      answer.on("data", (chunk: Buffer) => {
        if (seen === 0) resolve({ seen: () => seen, end: () => answer.destroy() });
        seen += chunk.length;
      });
    });
    // Ending a stream resets its connection.
    asked.on("error", reject);
    asked.end();
  });
}

async function load(stand: Stand, program: Program): Promise<void> {
  const perSecond = PER_SECOND / TENANTS / BATCH;
  await Promise.all(
    tenantIds.map(async (tid) => {
      const target = await stand.target(program, "/api/events", producerOf(tid));
      await sendSteadily(target, { perSecond, seconds: SECONDS, body: () => BATCH_BODY });
    }),
  );
}

const percent = (shares: readonly number[]): string =>
  shares.map((share) => (share * 100).toFixed(1)).join(", ");

/** By turns: without, with, without, with. */
export async function watched(stand: Stand) {
  const program = await stand.start("up");
  const { httpsPort } = await stand.receiver("reset");
  for (const tid of tenantIds) {
    const connection = await openConnection(await stand.target(program, "/api/webhooks", ownerOf(tid)));
    const answer = await connection.post(JSON.stringify({ url: `https://127.0.0.1:${httpsPort}/ok/${tid}` }));
    connection.close();
    assert.equal(answer.status, 201, answer.body);
  }
  await load(stand, program);
  const [without, beside] = [[] as number[], [] as number[]];
  let bytes = 0;
  for (let turn = 0; turn < 2; turn++) {
    without.push((await costOf(stand, [program], () => load(stand, program))).posternCpuS / SECONDS);
    const everyone = tenantIds.flatMap((tid) => Array.from({ length: WATCHERS_OF_TENANT }, () => tid));
    const watching = await Promise.all(everyone.map((tid) => watch(stand, program, tid)));
    beside.push((await costOf(stand, [program], () => load(stand, program))).posternCpuS / SECONDS);
    bytes = Math.min(...watching.map(({ seen }) => seen()));
    for (const { end } of watching) end();
  }
  await program.stop();
  return {
    task: `L ${TENANTS * WATCHERS_OF_TENANT} watchers at ${PER_SECOND} a second`,
    "% of a core without": percent(without),
    "% of a core with them": percent(beside),
    "bytes to each, at least": bytes,
  };
}
