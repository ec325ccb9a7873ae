import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";

const EACH = `import { it } from "node:test"; for (let n = 1; n <= 60; n++) it("test " + n, () => {});`;
const LEAKS = `${EACH} import net from "node:net"; it("listens on", () => { net.createServer().listen(0, "127.0.0.1"); });`;
const LEAVES_OPEN = `${EACH} import { open } from "node:fs/promises"; it("opens", async () => { globalThis.kept = await open(import.meta.filename); });`;
const READS_AUTHORITIES = `${EACH} import { open } from "node:fs/promises"; it("reads", async () => { globalThis.kept = await open(process.env.NODE_EXTRA_CA_CERTS); });`;
const HANGS_IN_HOOK = `${EACH} import { after } from "node:test"; after(() => new Promise((done) => setTimeout(done, 60_000)));`;
const SLOW_HOOK = `import { after, it } from "node:test"; it("passes", () => {}); after(() => new Promise((done) => setTimeout(() => { console.log("hook done"); done(); }, 500)));`;
const FAILS = `${EACH} it("fails", () => { throw new Error("the reason why"); });`;
const FORGETS = `${EACH} it("goes on", async () => { void (async () => { await null; throw new Error("the reason why"); })(); await new Promise((done) => setTimeout(done, 20)); });`;

describe("a run of test files", () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), "postern-run-files-"))));
  after(() => rm(folder, { recursive: true }));

  it("tells every result of every file", async () => {
    const files = Array.from({ length: 12 }, (_, n) => [`file-${n}.test.mjs`, EACH] as const);

    const { status, output } = await runOf(Object.fromEntries(files));

    assert.match(output, /^ℹ tests 720$/m);
    assert.match(output, /of 12 files took/);
    assert.equal(status, 0, output);
  });

  it("fails with a test, and gives its reason", async () => {
    const { status, output } = await runOf({ "fails.test.mjs": FAILS, "passes.test.mjs": EACH });

    assert.equal(status, 1);
    assert.match(output, /the reason why/);
    assert.match(output, /^ℹ pass 120$/m);
  });

  it("fails with a rejection that is never handled", async () => {
    const { status, output } = await runOf({ "forgets.test.mjs": FORGETS, "passes.test.mjs": EACH });

    assert.equal(status, 1);
    assert.match(output, /A rejection was never handled: Error: the reason why/);
    assert.match(output, /✖ .*forgets\.test\.mjs/);
  });

  it("ends a file that something keeps alive, and says what", async () => {
    const { status, output } = await runOf({ "leaks.test.mjs": LEAKS, "passes.test.mjs": EACH });

    assert.equal(status, 1);
    assert.match(output, /Still alive 2 s behind its last test\. Close what keeps it: TCPServerWrap/);
    assert.match(output, /^ℹ pass 121$/m);
  });

  it(
    "fails with a file that is left open, and names it",
    { skip: !existsSync("/proc/self/fd") && "the system tells of no open files" },
    async () => {
      const { status, output } = await runOf({ "opens.test.mjs": LEAVES_OPEN, "passes.test.mjs": EACH });

      assert.equal(status, 1);
      assert.match(output, /Ended with files open: \/.*\/opens\.test\.mjs\./);
      assert.match(output, /^ℹ pass 121$/m);
    },
  );

  it("passes a file that ends while node still reads the shell's own authorities", async () => {
    await writeFile(join(folder, "authorities.pem"), "");
    await symlink(join(folder, "authorities.pem"), join(folder, "named.pem"));
    const own = { NODE_EXTRA_CA_CERTS: join(folder, "named.pem") };

    const { status, output } = await runOf({ "reads.test.mjs": READS_AUTHORITIES }, own);

    assert.equal(status, 0, output);
  });

  it("ends a file whose hook waits in vain", async () => {
    const { status, output } = await runOf({ "hangs.test.mjs": HANGS_IN_HOOK, "passes.test.mjs": EACH });

    assert.equal(status, 1);
    assert.match(output, /timed out after 1000ms/);
  });

  it("waits for hooks that take their time", async () => {
    const { status, output } = await runOf({ "slow.test.mjs": SLOW_HOOK });

    assert.match(output, /hook done/);
    assert.equal(status, 0, output);
  });

  it("fails when a file ends with 0 and without results", async () => {
    const { status, output } = await runOf({
      "silent.test.mjs": `import { it } from "node:test"; it("ends its process", () => process.exit(0));`,
      "passes.test.mjs": EACH,
    });

    assert.equal(status, 1);
    assert.match(output, /No results came from silent\.test\.mjs\./);
  });

  /** In a process of its own: node skips a run within a run. */
  async function runOf(
    files: Record<string, string>,
    own: NodeJS.ProcessEnv = {},
  ): Promise<{ status: number | null; output: string }> {
    const here = await mkdtemp(join(folder, "run-"));
    for (const [name, code] of Object.entries(files)) await writeFile(join(here, name), code);
    const limits = { concurrency: 4, testMs: 1_000, endMs: 2_000 };
    const runner = new URL("run-files.ts", import.meta.url).href;
    const program = join(here, "program.mjs");
    await writeFile(
      program,
      `import { runFiles } from ${JSON.stringify(runner)};
      process.exitCode = await runFiles(${JSON.stringify(here)}, ${JSON.stringify(Object.keys(files))}, ${JSON.stringify(limits)});`,
    );
    const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, ...env } = process.env;
    const child = spawn(process.execPath, [program], {
      env: { ...env, ...own },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = once(child, "close");
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await ended;
    return { status: child.exitCode, output: out + errors };
  }
});
