import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { startExtraWorkers } from "./extra-workers.ts";

const { execPath } = process;
afterEach(() => {
  process.execPath = execPath;
});

describe("an extra worker", () => {
  it("that the system does not start is one line of the log, and is tried again", async () => {
    const { log, lines } = makeKeptLog();
    process.execPath = "/nowhere/node";
    const workers = startExtraWorkers(1, { env: {}, databaseUrl: "postgres://unused", log });
    try {
      await eventually(async () => lines.length > 0);
      process.execPath = "/bin/true";
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
});
