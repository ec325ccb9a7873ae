/** Recipes of the README, pasted beside `npm start` as a newcomer does, who then presses Ctrl-C. */
import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { accepts, freePort } from "./support/free-port.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { missingCommands } from "./support/missing-commands.ts";
import { eventually } from "./support/eventually.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");

/** The line of the README that begins so, as it stands there. */
function lineOf(beginning: string): string {
  const found = readme.split("\n").filter((line) => line.startsWith(beginning));
  assert.equal(found.length, 1, `${found.length} lines begin with ${beginning}`);
  return found[0] ?? "";
}

type Terminal = { child: ChildProcess; output(): string; errors(): string };

const terminals: Terminal[] = [];

/** A line in a terminal of its own: its processes are one group, which gets Ctrl-C together. */
function open(line: string, env: NodeJS.ProcessEnv = {}): Terminal {
  const child = spawn("bash", ["-c", line], { cwd: folder, detached: true, env: { ...process.env, ...env } });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const terminal = { child, output: () => output, errors: () => errors };
  terminals.push(terminal);
  return terminal;
}

function signal({ child }: Terminal, name: NodeJS.Signals): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
    process.kill(-child.pid, name);
}

let folder: string;
let database: TestDatabase;
let demo: Terminal;
let receiver: Terminal;
let port: number;
/** Where the demonstration is, which takes any free port here. */
let api: string;

/** In a terminal with the tokens of the demonstration. */
async function paste(line: string, input = ""): Promise<string> {
  const pasting = run("bash", ["-c", `. data/demo.env && ${line}`], { cwd: folder });
  pasting.child.stdin?.end(input);
  return (await pasting).stdout;
}

/** The README's call, at where the demonstration is. */
function callLine(path: string): string {
  return lineOf(`curl -s http://127.0.0.1:8080/api/${path} `).replace("http://127.0.0.1:8080", api);
}

/** How many of the example's events have come to the receiver. */
const arrived = () => [...receiver.output().matchAll(/"event":"invoice\.paid"[^]*?"inv_1"/g)].length;

describe("the README", { skip: missingCommands("curl", "openssl") }, () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "postern-readme-"));
    await chmod(folder, 0o711);
    database = await createTestDatabase();
    port = await freePort();
    await run("bash", ["-c", lineOf("openssl req ")], { cwd: folder });
    // What npm start installs first is there already, or this test would not run. Where /bin/sh replaces itself by the
    // program, as bash does, npm hands a Ctrl-C on to Postern, which has it from the terminal too.
    const options = `--prefix "${root}" --ignore-scripts --script-shell=bash`;
    const start = lineOf("OUTBOUND_ALLOWED_CIDRS=").replace("npm start", `exec npm ${options} start`);
    const env = { PORT: "0", DATA_DIR: join(folder, "data"), DATABASE_URL: database.url };
    demo = open(start, env);
    receiver = open(`exec ${lineOf("node -e ").replace("9443", String(port))}`);
    api = await eventually(async () => {
      assert.equal(demo.child.exitCode, null, demo.output() + demo.errors());
      return /^ {2}API +(http:\S+)[^]*^Ctrl-C /m.exec(demo.output())?.[1];
    });
    await eventually(() => accepts(port));
  });
  after(async () => {
    for (const terminal of terminals) signal(terminal, "SIGKILL");
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it("leads to a receiver of one's own on this machine, over TLS that Postern trusts", async () => {
    const example = "https://127.0.0.1:8443/webhooks";
    const register = callLine("webhooks");
    assert.ok(register.includes(example));
    const registered = await paste(register.replace(example, `https://127.0.0.1:${port}/`));
    assert.match(registered, /"secret":"whsec_/);
    assert.match(await paste(callLine("events")), /"deliveries":1/);
    await eventually(async () => arrived() === 1);
  });

  it(
    "leads to an event that psql publishes in a transaction of the application",
    { skip: missingCommands("psql") },
    async () => {
      assert.ok(
        readme.includes('In the demonstration the tenant is `demo`, and `psql "$DATABASE_URL"` connects.'),
      );
      const [, sql = ""] = /```sql\n(BEGIN;\n[^]*?COMMIT;\n)```/.exec(readme) ?? [];
      assert.match(sql, /postern\.publish\('acme', /);
      const invoices =
        "CREATE TABLE invoices (id text, paid_at timestamptz); INSERT INTO invoices VALUES ('inv_1');\n";
      const answer = await paste(
        'psql "$DATABASE_URL" --set ON_ERROR_STOP=1',
        invoices + sql.replace("'acme'", "'demo'"),
      );
      assert.match(answer, /UPDATE 1[^]*COMMIT/);
      await eventually(async () => arrived() === 2);
    },
  );

  it("has npm start end quietly at Ctrl-C, which reaches Postern twice: from the terminal and from npm", async () => {
    const before = demo.output().length;
    assert.equal((await database.pool.query("SELECT FROM postern.workers")).rows.length, 1);
    signal(demo, "SIGINT");
    // By then no process of the group has the terminal any more.
    assert.deepEqual(await once(demo.child, "close"), [0, null], demo.output() + demo.errors());
    assert.equal(await accepts(Number(new URL(api).port)), false);
    // A worker that was cut off at the second signal leaves its row.
    assert.deepEqual((await database.pool.query("SELECT FROM postern.workers")).rows, []);
    assert.doesNotMatch(demo.output().slice(before), /"level":"(?:warn|error|fatal)"|Error|npm err/i);
    assert.equal(demo.errors(), "");
  });
});
