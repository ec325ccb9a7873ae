/**
 * `npm run bench:outages [-- rounds]` (default 100): under a steady load, each
 * part of an installation of several machines fails by turns: primaries,
 * standbys, disks, the stream's servers, APIs, workers and the way to a shard.
 * A tenant moves to and fro. Afterwards no accepted event may be lost, stored
 * twice, missing in the log or at another tenant. Without root no disk fills,
 * and without Go there is no stream: it says so.
 *
 * `OUTAGES_SEED` repeats the choice of the shards that fail.
 */
import assert from "node:assert/strict";
import { issueTestToken } from "../test/support/calls.ts";
import { BACKEND } from "../test/support/shard-programs.ts";
import { randomFrom } from "../test/support/chance.ts";
import { exitOnSignal } from "./exit-on-signal.ts";
import { check, settle } from "./outages/check.ts";
import { BETWEEN, faultsOf } from "./outages/faults.ts";
import { Installation } from "./outages/installation.ts";
import { Load } from "./outages/load.ts";

exitOnSignal();

const ROUNDS = Number(process.argv[2] ?? 100);
const seed = Number(process.env["OUTAGES_SEED"] ?? Date.now() % 1_000_000);

console.log(`seed ${seed}`);
const installation = await Installation.start();
try {
  const faults = faultsOf(installation);
  if (installation.stream === null) console.log("DID NOT RUN: the stream, which Go builds");
  if (installation.shards.some(({ disk }) => disk === null))
    console.log("DID NOT RUN: the full disk, which root mounts");
  const token = await issueTestToken(installation.env, BACKEND);
  const load = new Load(installation.tenants, token, () => installation.apis());
  const stand = { installation, load, chance: randomFrom(seed) };
  await load.acceptMore(BETWEEN);
  for (let round = 0; round < ROUNDS; round++) {
    const fault = faults[round % faults.length];
    assert.ok(fault);
    const begunAt = performance.now();
    await fault.run(stand);
    await load.acceptMore(BETWEEN);
    const seconds = ((performance.now() - begunAt) / 1000).toFixed(1);
    console.log(
      `${round + 1} of ${ROUNDS}: ${fault.name}, ${seconds} s, ${load.accepted.length} events accepted`,
    );
  }
  await load.stop();
  await settle(installation);
  const findings = await check(installation, load.accepted);
  const { length: accepted } = load.accepted;
  const requests = installation.receiver.requests.length;
  console.log(JSON.stringify({ rounds: ROUNDS, accepted, refused: load.refused, requests, ...findings }));
  assert.ok(Object.values(findings).every((count) => count === 0));
} finally {
  await installation.close();
}
