/**
 * `postern up` on the embedded database, whose disk is full: first there is no
 * space for rows, then none for the server's own log, at which it ends. The disk
 * is a small file system in memory, which only root may mount.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Client } from "pg";
import * as z from "zod";
import { createEndpoint } from "./support/api.ts";
import type { Environment } from "../src/config.ts";
import { runProgram, sharedSettings, startProgram, type Program } from "./support/program.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { mountSmallDisk } from "./support/small-disk.ts";
import { temporaryPath } from "./support/temporary.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const DISK_FULL = /^the database's disk is full: free space there or enlarge it/;
const ROW_BYTES = 600_000;

const findings = z.array(z.object({ check: z.string(), detail: z.string() }));
const unready = z.object({ reasons: z.array(z.string()) });

const disk = await mountSmallDisk(192);

function small() {
  assert.ok(disk !== null);
  return disk;
}

describe(
  "postern up on a full disk",
  { skip: disk === null ? "only root may mount the small disk" : false },
  () => {
    let own: Environment;
    let receiver: TlsReceiver;
    let program: Program;
    let joined: Program;
    const accepted: string[] = [];

    before(async () => {
      receiver = await startReceiver();
      const { DATABASE_URL: _, ...settings } = await sharedSettings("", receiver.caPem);
      own = { ...settings, DATA_DIR: small().folder };
      program = await startProgram(["up"], own);
      joined = await startProgram(["worker"], own);
      await createEndpoint(program, { url: receiver.url });
    });
    after(async () => {
      await joined?.end("SIGTERM");
      await program?.end("SIGTERM");
      await receiver?.close();
      await disk?.unmount();
    });

    /** Its status; what is accepted is noted. */
    async function publishLarge(): Promise<number> {
      const filling = randomBytes(ROW_BYTES / 2).toString("hex");
      const json = { type: "invoice.paid", data: { filling } };
      const { status, body } = await program.call("POST", "/api/events", { as: PRODUCER, json });
      if (status === 202) accepted.push(z.object({ id: z.string() }).parse(body).id);
      return status;
    }

    async function untilReason(reason: RegExp, of = program): Promise<void> {
      let last = "";
      await eventually(async () => {
        const { status, body, text } = await of.call("GET", "/ready", { as: null });
        last = `${status} ${text}`;
        return status === 503 && unready.parse(body).reasons.some((one) => reason.test(one));
      }).catch((error: unknown) => {
        throw new Error(`/ready said last: ${last}; the program:\n${of.output().slice(-3000)}`, {
          cause: error,
        });
      });
      assert.equal((await of.call("GET", "/health", { as: null })).status, 200);
    }

    /** What it finds wrong with them, from a machine whose own disk has room. */
    async function doctorOnWrites() {
      const { user, password, host, port, database } = await readLogin();
      const DATABASE_URL = `postgres://${user}:${password}@${host}:${port}/${database}`;
      const elsewhere = { ...own, DATABASE_URL, DATA_DIR: temporaryPath("elsewhere") };
      const { printed } = await runProgram(["doctor", "--json"], elsewhere);
      return findings.parse(JSON.parse(printed)).find(({ check }) => check === "writes");
    }

    async function heals(): Promise<void> {
      await small().free();
      await eventually(async () => (await publishLarge()) === 202);
      await eventually(async () => (await program.call("GET", "/ready", { as: null })).status === 200);
      await eventually(async () => {
        const received = new Set(receiver.requests.map(({ headers }) => headers["webhook-id"]));
        return accepted.every((id) => received.has(id));
      });
    }

    it("refuses events while it has no space for them, names the full disk, and goes on when it has", async () => {
      assert.equal(await publishLarge(), 202);
      await small().fill();
      await eventually(async () => (await publishLarge()) === 503);
      await untilReason(DISK_FULL);
      const told = /"level":"warn".*"msg":"callers get 503: the database, /;
      await eventually(async () => told.test(program.output()));
      assert.match(
        (await doctorOnWrites())?.detail ?? "",
        /^The database's disk is full: could not extend file/,
      );
      await heals();
      assert.equal(await doctorOnWrites(), undefined);
    });

    it("names the full disk while the server can't run, however long that is, and loses nothing accepted", async () => {
      const told = program.output().length;
      await endServerUntil(async () => program.output().slice(told).includes("No space left on device"));
      await untilReason(DISK_FULL);
      assert.equal(await publishLarge(), 503);
      // More tries than any other failure has.
      await endServerUntil(async () => triesIn(await serverLog()) > 6);
      await untilReason(DISK_FULL);
      await untilReason(DISK_FULL, joined);
      await heals();
    });

    it("names the full disk at a start, before there is a database and in making it", async () => {
      for (const isFull of [true, false]) {
        const other = await mountSmallDisk(20);
        assert.ok(other !== null);
        if (isFull) await other.fill();
        const { code, errors } = await runProgram(["up"], { ...own, DATA_DIR: other.folder });
        await other.unmount();
        assert.equal(code, 1, errors);
        assert.match(
          errors,
          /^postern:\n {2}A disk is full: (?:ENOSPC:|could not) .*\n {2}Free space .*\n$/m,
        );
      }
    });
  },
);

function triesIn(log: string): number {
  return log.split("starting PostgreSQL").length - 1;
}

/** Again and again, since a crash can give back room in which the server comes up. */
async function endServerUntil(isSo: () => Promise<boolean>): Promise<void> {
  await eventually(async () => {
    // It does not run, most of the time.
    await endServer().catch(() => undefined);
    return isSo();
  });
}

/** Fills the disk, and uses up the space that the server has reserved for its log, at which it ends. */
async function endServer(): Promise<void> {
  const client = new Client(await readLogin());
  client.on("error", () => undefined);
  await client.connect();
  await small().fill();
  await assert.rejects(async () => {
    for (;;) await client.query("SELECT pg_logical_emit_message(true, 'x', repeat('x', 1000000))");
  });
  await client.end().catch(() => undefined);
}

async function readLogin() {
  const postgres = join(small().folder, "postgres");
  const [, , , port] = (await readFile(join(postgres, "data", "postmaster.pid"), "utf8")).split("\n");
  const password = (await readFile(join(postgres, "password"), "utf8")).trim();
  return { host: "127.0.0.1", port: Number(port), user: "postern", database: "postern", password };
}

function serverLog(): Promise<string> {
  return readFile(join(small().folder, "postgres", "server.log"), "utf8");
}
