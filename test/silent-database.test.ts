/** A database that still has its connections and says nothing any more. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeSecrets } from "../src/config.ts";
import { startEmbeddedPostgres } from "../src/database/embedded/embedded.ts";
import { createPool } from "../src/database/pool.ts";
import { startProgram } from "./support/program.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";

describe("a database that is silent", () => {
  it("makes /ready say so, and does not keep the process from stopping", async (test) => {
    const dataDir = await mkdtemp(join(tmpdir(), "postern-test-"));
    const log = { info: () => undefined, warn: () => undefined };
    const postgres = await startEmbeddedPostgres({ dataDir, log, openFolder: dataDir });
    const pidFile = await readFile(join(dataDir, "postgres", "data", "postmaster.pid"), "utf8");
    const postmaster = Number(pidFile.split("\n")[0]);
    const program = await startProgram(["up"], {
      ...makeSecrets(),
      PORT: "0",
      LOG_LEVEL: "info",
      DATABASE_URL: postgres.url,
      DATA_DIR: join(dataDir, "program"),
    });
    assert.equal((await program.call("GET", "/ready", { as: null })).status, 200);

    const json = { type: "invoice.paid", data: {}, tenant_id: "acme" };
    const publish = () => program.call("POST", "/api/events", { as: PRODUCER, json });
    // Its connection is the one that falls silent.
    assert.equal((await publish()).status, 202);
    const pids = [postmaster, ...(await serverPids(postgres.url))];
    test.after(async () => {
      signalAll(pids, "SIGCONT");
      await postgres.stop();
      await rm(dataDir, { recursive: true });
    });
    signalAll(pids, "SIGSTOP");
    const publishing = publish();
    const ready = await program.call("GET", "/ready", { as: null });
    assert.deepEqual(
      [ready.status, ready.body],
      [
        503,
        {
          status: "not ready",
          error: "Not ready",
          reasons: ["the database cannot be reached"],
          warnings: [],
        },
      ],
    );
    assert.equal((await program.call("GET", "/health", { as: null })).status, 200);
    const refused = await publishing;
    assert.equal(refused.status, 503, refused.text);
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]/);
    await eventually(async () => program.output().includes('"msg":"callers get 503: '));
    // It ends by itself, whatever the code: nothing in flight can be recorded any more.
    await program.end("SIGTERM");
  });
});

/** The processes that serve connections; the postmaster itself would only accept new ones. */
async function serverPids(url: string): Promise<number[]> {
  const pool = createPool({ url, poolSize: 1, applicationName: "silencer", connectionTimeoutMs: 5000 });
  const { rows } = await pool.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name <> 'silencer'",
  );
  await pool.end();
  return rows.map(({ pid }) => pid);
}

function signalAll(pids: readonly number[], signal: "SIGSTOP" | "SIGCONT"): void {
  for (const pid of pids) process.kill(pid, signal);
}
