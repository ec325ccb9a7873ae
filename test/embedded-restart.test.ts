/** `postern up` on the embedded database, whose server is killed. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { makeSecrets, type Environment } from "../src/config.ts";
import { publish } from "./support/api.ts";
import { startProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";

let dataDir: string;
let env: Environment;
let program: Program;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-test-"));
  // Where we are root, the server runs as another user.
  await chmod(dataDir, 0o711);
  env = { ...makeSecrets(), PORT: "0", LOG_LEVEL: "info", DATA_DIR: dataDir };
  program = await startProgram(["up"], env);
});
after(async () => {
  await program.end("SIGTERM");
  await rm(dataDir, { recursive: true, force: true });
});

const cluster = () => join(dataDir, "postgres", "data");

async function killServer(): Promise<void> {
  const [pid] = (await readFile(join(cluster(), "postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
}

async function readyStatus(): Promise<number> {
  return (await program.call("GET", "/ready", { as: null })).status;
}

it("is started again when it was killed, and events are accepted as before", async () => {
  await publish(program);
  await killServer();
  await eventually(() => Promise.resolve(program.output().includes("The embedded database runs again")));
  await eventually(async () => (await readyStatus()) === 200);
  await publish(program);
  assert.match(program.output(), /The embedded database ended by itself; server\.log says why/);
});

it("ends the process with a status when it can't be started again", async () => {
  await rename(cluster(), `${cluster()}-lost`);
  const [pid] = (await readFile(`${cluster()}-lost/postmaster.pid`, "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  assert.deepEqual(await program.ended, { code: 1, signal: null });
  assert.match(program.output(), /could not be started again: this process ends/);
});
