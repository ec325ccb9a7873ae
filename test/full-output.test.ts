/** Output that the system refuses to write, as on a full disk. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { makeSecrets } from "../src/config.ts";
import { eventually } from "./support/eventually.ts";
import { freePort } from "./support/free-port.ts";
import { createTestDatabase } from "./support/postgres.ts";
import { MAIN } from "./support/program.ts";

const FULL = "/dev/full";

async function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const full = await open(FULL, "w");
  const child = spawn(MAIN, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", full.fd, "pipe"],
  });
  await full.close();
  return child;
}

describe(
  "output that can't be written",
  { skip: !existsSync(FULL) && "this system has no /dev/full" },
  () => {
    it("is told in a line by a command, which exits with 1", async () => {
      const child = await start(["--version"]);
      assert.ok(child.stderr !== null);
      const [told, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
      assert.equal(told, "postern: its output can't be written: ENOSPC: no space left on device, write\n");
      assert.equal(code, 1);
    });

    it("costs a service its log and nothing else: it starts, serves and stops", async (test) => {
      const database = await createTestDatabase();
      test.after(() => database.drop());
      const port = await freePort();
      const child = await start(["up"], { ...makeSecrets(), DATABASE_URL: database.url, PORT: `${port}` });
      test.after(() => child.kill("SIGKILL"));
      await eventually(
        async () => (await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null))?.ok === true,
      );
      child.kill("SIGTERM");
      assert.deepEqual(await once(child, "exit"), [0, null]);
    });
  },
);
