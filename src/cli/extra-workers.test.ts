import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, before, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import type { Environment } from "../config.ts";
import { startExtraWorkers } from "./extra-workers.ts";

const NOTHING = "/bin/true";
// Never Node itself: a worker that a test leaves behind would be this file, which starts workers.
const reset = () => {
  process.execPath = NOTHING;
};
before(reset);
afterEach(reset);

/** What one is started with, of these settings. */
async function environmentOf(env: Environment): Promise<Record<string, string>> {
  const [program, out] = [temporaryPath("worker"), temporaryPath("environment")];
  writeFileSync(program, `#!/bin/sh\nenv > "${out}.part" && mv "${out}.part" "${out}"\n`, { mode: 0o755 });
  process.execPath = program;
  const { log } = makeKeptLog();
  const workers = startExtraWorkers(1, { env, databaseUrl: "postgres://embedded", log });
  try {
    await eventually(async () => existsSync(out));
  } finally {
    await workers.stop();
  }
  const names = new Set(["DATABASE_URL", "SHARDS", "HOST", "PORT", "LOG_LEVEL", "POSTERN_EXTRA_WORKER"]);
  return Object.fromEntries(
    readFileSync(out, "utf8")
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const)
      .filter(([name]) => names.has(name)),
  );
}

describe("an extra worker", () => {
  it("has the settings of the process that started it, its database, and no port that others reach", async () => {
    const env = { HOST: "0.0.0.0", PORT: "8080", LOG_LEVEL: "warn" };
    const own = { HOST: "127.0.0.1", PORT: "0", LOG_LEVEL: "warn", POSTERN_EXTRA_WORKER: "1" };
    assert.deepEqual(await environmentOf(env), { ...own, DATABASE_URL: "postgres://embedded" });
    const SHARDS = "eu1=postgres://one|eu2=postgres://two";
    assert.deepEqual(await environmentOf({ ...env, SHARDS }), { ...own, SHARDS });
  });

  it("that the system does not start is one line of the log, and is tried again", async () => {
    const { log, lines } = makeKeptLog();
    process.execPath = "/nowhere/node";
    const workers = startExtraWorkers(1, { env: {}, databaseUrl: "postgres://unused", log });
    try {
      await eventually(async () => lines.length > 0);
      process.execPath = NOTHING;
      await eventually(async () => lines.length >= 3);
    } finally {
      await workers.stop();
    }
    const [refused, started, ended] = lines;
    assert.deepEqual(refused, { level: 50, err: "spawn /nowhere/node ENOENT" });
    const pid = started?.["pid"];
    assert.ok(Number(pid) > 0);
    assert.deepEqual(started, { level: 30, pid });
    assert.deepEqual(ended, { level: 50, pid, code: 0, signal: null });
  });

  it("that has ended is not started again once the process stops", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const { log, lines } = makeKeptLog();
    process.execPath = NOTHING;
    const workers = startExtraWorkers(1, { env: {}, databaseUrl: "postgres://unused", log });
    try {
      await eventually(async () => lines.length >= 2);
    } finally {
      await workers.stop();
    }
    test.mock.timers.tick(1000);
    assert.equal(lines.length, 2);
  });
});
