/** A healthy tenant beside tenants whose endpoints hang, and beside as many with the same load whose endpoints are well. */
import assert from "node:assert/strict";
import type { TokenClaims } from "../src/api/session-token.ts";
import { ownerOf, producerOf } from "./callers.ts";
import { openConnection, sendSteadily } from "./generator.ts";
import { nowMs } from "./http-stream.ts";
import { memoryMib, percentile } from "./measure.ts";
import type { Program, Stand } from "./stand.ts";

const TENANTS = [1, 2, 3, 10];
const ENDPOINTS = 6;
const BACKLOG = 1000;
const PER_SECOND = 20;
const SECONDS = 15;
const PADDING = "x".repeat(900);

const body = (): string => `{"type":"invoice.paid","data":{"sent_at":${nowMs()}}}`;

async function post(stand: Stand, program: Program, to: { path: string; claims: TokenClaims; text: string }) {
  const connection = await openConnection(await stand.target(program, to.path, to.claims));
  const answer = await connection.post(to.text);
  connection.close();
  assert.ok(answer.status === 201 || answer.status === 202, answer.body);
}

/** Six endpoints, and for each a backlog at once and then a few events a second. */
async function addNeighbour(stand: Stand, program: Program, tid: string, url: string): Promise<void> {
  for (let n = 0; n < ENDPOINTS; n++) {
    await post(stand, program, {
      path: "/api/webhooks",
      claims: ownerOf(tid),
      text: JSON.stringify({ url: `${url}/${tid}/${n}` }),
    });
  }
  const events = Array.from(
    { length: BACKLOG },
    () => `{"type":"payment.failed","data":{"note":"${PADDING}"}}`,
  );
  await post(stand, program, {
    path: "/api/events",
    claims: producerOf(tid),
    text: `[${events.join(",")}]`,
  });
}

async function beside(stand: Stand, tenants: number, path: string) {
  const program = await stand.start("up");
  const { httpsPort } = await stand.receiver("reset");
  const url = `https://127.0.0.1:${httpsPort}`;
  await post(stand, program, {
    path: "/api/webhooks",
    claims: ownerOf("well"),
    text: JSON.stringify({ url: `${url}/ok/well` }),
  });
  const target = await stand.target(program, "/api/events", producerOf("well"));
  await sendSteadily(target, { perSecond: 100, seconds: 2, body });
  await stand.receiver("reset");
  for (let n = 0; n < tenants; n++) await addNeighbour(stand, program, `neighbour-${n}`, `${url}${path}`);
  await sendSteadily(target, { perSecond: PER_SECOND, seconds: SECONDS, body });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { latenciesMs } = await stand.receiver("look");
  const peakMib = memoryMib(program.pid).peak;
  await stand.sql("UPDATE postern.endpoints SET deleted_at = now() WHERE deleted_at IS NULL");
  await stand.sql("TRUNCATE postern.dispatches");
  await program.stop("SIGKILL");
  return { latenciesMs, peakMib };
}

const p99 = (latencies: readonly number[]): string => percentile(latencies, 0.99).toFixed(1);

/** For each number of neighbours: how many of its events the healthy tenant got within a second, and the p99. */
export async function noisyNeighbours(stand: Stand) {
  const figures: Record<string, string> = {};
  for (const tenants of TENANTS) {
    const well = await beside(stand, tenants, "/ok");
    const sick = await beside(stand, tenants, "/hang");
    figures[`p99 ms beside ${tenants}`] =
      `${p99(sick.latenciesMs)} (${sick.latenciesMs.length}/${PER_SECOND * SECONDS}, healthy ${p99(well.latenciesMs)}, ${sick.peakMib} MiB)`;
  }
  return { task: "N healthy beside tenants that hang", ...figures };
}
