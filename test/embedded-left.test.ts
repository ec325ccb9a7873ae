/** `postern worker` on the embedded database of another process, which ends. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import * as z from "zod";
import { makeSecrets, type Environment } from "../src/config.ts";
import { eventually } from "./support/eventually.ts";
import { runProgram, startProgram, type Program } from "./support/program.ts";

const LEFT =
  "the embedded database has stopped with the process that started it: start that again, or restart this one, which then runs it";
const findings = z.array(z.object({ check: z.string(), detail: z.string() }));

let dataDir: string;
let env: Environment;
let owner: Program;
let joined: Program;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-test-"));
  // Where we are root, the server runs as another user.
  await chmod(dataDir, 0o711);
  env = { ...makeSecrets(), PORT: "0", DATA_DIR: dataDir };
  owner = await startProgram(["up"], env);
  joined = await startProgram(["worker"], env);
});
after(async () => {
  for (const program of [joined, owner]) await program.end("SIGTERM");
  await rm(dataDir, { recursive: true, force: true });
});

async function untilReady(status: number): Promise<unknown> {
  let body: unknown;
  await eventually(async () => {
    const answer = await joined.call("GET", "/ready", { as: null });
    ({ body } = answer);
    return answer.status === status;
  });
  return body;
}

async function doctorOnServer(): Promise<string[]> {
  const { printed } = await runProgram(["doctor", "--json"], env);
  return findings
    .parse(JSON.parse(printed))
    .filter(({ check }) => check === "database")
    .map(({ detail }) => detail.replace(/^embedded, in .*/, "embedded"));
}

it("is unready and says why and what to do, as doctor does, until a process has it again", async () => {
  await untilReady(200);
  assert.deepEqual(await doctorOnServer(), ["embedded"]);
  await owner.end("SIGTERM");
  const { reasons } = z.object({ reasons: z.array(z.string()) }).parse(await untilReady(503));
  assert.deepEqual(reasons, [LEFT]);
  const started = "its server did not run: it was started for this check, and is stopped again";
  assert.deepEqual(await doctorOnServer(), ["embedded", started]);
  owner = await startProgram(["up"], env);
  await untilReady(200);
});
