/**
 * docs/scaling.md from one database to two and back, as it stands there. Only
 * the port of the addresses is another, and this server has its `wal_level`
 * from its start.
 */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { after, before, it } from "node:test";
import { promisify } from "node:util";
import { execFile } from "node:child_process";
import * as z from "zod";
import type { Environment } from "../src/config.ts";
import { makeChooser } from "../src/shards/choose-shard.ts";
import { createEndpoint, publish } from "./support/api.ts";
import { startDnsServer, type DnsServer } from "./support/dns-server.ts";
import { commandsOf, folderOfCommand, runShell } from "./support/how-to.ts";
import { runProgram, sharedSettings, startProgram, type Program } from "./support/program.ts";
import { placePsql } from "./support/psql.ts";
import { startReplicated, type Replicated, type Server } from "./support/replicated-postgres.ts";
import { eventually } from "./support/eventually.ts";
import { BACKEND, delivered, ok, owner, producer } from "./support/shard-programs.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let cluster: Replicated;
let server: Server;
let receiver: TlsReceiver;
/** For the doctor, which asks the network's name servers otherwise. */
let dns: DnsServer;
let folder: string;
let env: Environment;

before(async () => {
  cluster = await startReplicated(1, { wal_level: "logical" });
  const [only] = cluster.servers;
  assert.ok(only);
  server = only;
  await server.sql("CREATE ROLE postgres SUPERUSER LOGIN");
  receiver = await startReceiver();
  dns = await startDnsServer(() => ({ kind: "nxdomain" }));
  folder = await folderOfCommand();
  await placePsql(folder);
  env = {
    ...(await sharedSettings(server.url(), receiver.caPem)),
    PGHOST: "127.0.0.1",
    PGPORT: String(server.port),
    PGUSER: "postern",
    DNS_SERVERS: dns.address,
  };
});
after(async () => {
  await Promise.all(running.map((program) => program.end("SIGKILL")));
  await receiver.close();
  await dns.close();
  await cluster.close();
  await rm(folder, { recursive: true, force: true });
});

const running: Program[] = [];
/** Of the blocks before: what a terminal keeps. */
let kept = "";

async function shell(block: string): Promise<string> {
  const { stdout, stderr, hasFailed } = await runShell(`set -e\n${kept}\n${block}`, { folder, env });
  assert.equal(hasFailed, false, `${block}\n${stdout}\n${stderr}`);
  keep(block);
  return stdout;
}

function keep(block: string): void {
  kept += (block.match(/^(export|unset) .*$/gm) ?? []).map((line) => `${line}\n`).join("");
}

/** Restarts the program with what a terminal has by then. */
async function restart(block = "postern up\n"): Promise<Program> {
  assert.match(block, /^postern up$/m);
  keep(block);
  await running.at(-1)?.end("SIGTERM");
  const show = `"${process.execPath}" -p 'JSON.stringify(process.env)'`;
  const { stdout } = await promisify(execFile)("sh", ["-c", `${kept}\n${show}`], {
    env: { ...process.env, ...env },
  });
  const program = await startProgram(["up"], z.record(z.string(), z.string()).parse(JSON.parse(stdout)));
  running.push(program);
  return program;
}

let tenants = 0;
/** A tenant that goes to eu2 while both take new ones. */
function newTenant(): string {
  const choose = makeChooser(["eu1", "eu2"].map((name) => ({ name, weight: 1 })));
  for (;;) {
    const tid = `tenant-${tenants++}`;
    if (choose(tid) === "eu2") return tid;
  }
}

async function startTenant(program: Program, tid: string) {
  const url = `${receiver.url}/${tid}`;
  const { id } = (await createEndpoint(program, { url }, { as: owner(tid) })).endpoint;
  await publish(program, "invoice.paid", { as: producer(tid) });
  await delivered(program, { tid, id });
  return { tid, id };
}

async function sendAgain(program: Program, { tid, id }: { tid: string; id: string }, count: number) {
  await publish(program, "invoice.paid", { as: producer(tid) });
  await delivered(program, { tid, id }, count);
}

async function erase(program: Program, tid: string): Promise<void> {
  await ok(program.call("DELETE", `/api/tenants/${tid}`, { as: BACKEND }), 202);
  await eventually(async () => (await erasureOf(program, tid)) === "finished");
}

async function erasureOf(program: Program, tid: string): Promise<string> {
  const { body } = await ok(program.call("GET", `/api/tenants/${tid}/erasure`, { as: BACKEND }), 200);
  return z.object({ erasure: z.object({ status: z.string() }) }).parse(body).erasure.status;
}

const homes = () => server.sql("SELECT tenant_id, shard FROM postern.shard_directory ORDER BY tenant_id");

it("goes from one database to two, and back", { timeout: 180_000 }, async () => {
  const blocks = (await commandsOf("../scaling.md")).map((block) =>
    block.replaceAll(/^ {3}/gm, "").replaceAll("@127.0.0.1/", `@127.0.0.1:${server.port}/`),
  );
  const [create = "", one = "", two = "", count = "", ...later] = blocks;
  const [weigh = "", empty = "", leave = "", helm = "", urls = "", move = "", ...others] = later;
  assert.match(helm, /^kubectl /);
  assert.deepEqual(others, []);

  await shell(create);
  const alone = await restart();
  const acme = await startTenant(alone, "acme");
  const first = await restart(one);
  await sendAgain(first, acme, 2);
  assert.match(await shell(two), /2 databases of one installation; eu1 keeps the directory/);
  const both = await restart();
  const other = await startTenant(both, newTenant());
  const gone = await startTenant(both, newTenant());
  assert.equal(await shell(count), "eu1|1\neu2|2\n");

  await shell(urls);
  const moved = await shell(move);
  assert.match(moved, /acme can be moved[^]*acme has moved from eu1 to eu2/);
  await sendAgain(both, acme, 3);
  await erase(both, gone.tid);

  const leaving = await restart(weigh);
  const late = await startTenant(leaving, newTenant());
  const { code, errors } = await runProgram(["worker"], {
    ...env,
    DATABASE_URL: "",
    SHARDS: /SHARDS="(.*)"/.exec(leave)?.[1],
  });
  assert.equal(code, 1);
  assert.match(errors, /does not name: eu2 \(3 of them\)/);
  const emptied = await shell(empty);
  for (const { tid } of [acme, other, gone])
    assert.match(emptied, new RegExp(`${tid} has moved from eu2 to eu1`));
  assert.ok((await homes()).every(({ shard }) => shard === "eu1"));
  const entries = "SELECT action FROM postern.audit_log WHERE tenant_id";
  assert.deepEqual(await server.sql(`${entries} = '${gone.tid}'`), [{ action: "tenant.erased" }]);
  // A process that knew the erased tenant in the other shard asks anew.
  await startTenant(leaving, gone.tid);

  const last = await restart(leave);
  await server.sql("DROP DATABASE postern2", "postgres");
  await sendAgain(last, acme, 4);
  await sendAgain(last, other, 2);
  await sendAgain(last, late, 2);
  assert.equal(await erasureOf(last, gone.tid), "finished");
});
