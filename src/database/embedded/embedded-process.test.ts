import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { missingCommands } from "../../../test/support/missing-commands.ts";
import { isRunning, isServerOf, ownMark, parseMark } from "./embedded-process.ts";

const CLUSTER = "/a cluster/data";

/** Runs, with the folder as a word of its command line, until its input ends. */
let server: ChildProcess;
/** The same of a folder whose name begins like it. */
let neighbour: ChildProcess;

function start(folder: string): ChildProcess {
  const program = "process.stdin.resume(); console.log()";
  return spawn(process.execPath, ["-e", program, "--", "-D", folder], { stdio: ["pipe", "pipe", "ignore"] });
}

before(async () => {
  [server, neighbour] = [start(CLUSTER), start(`${CLUSTER}-2`)];
  for (const { stdout } of [server, neighbour]) if (stdout !== null) await once(stdout, "data");
});
after(() => [server, neighbour].forEach((one) => one.kill()));

const skip = process.platform === "linux" ? false : "needs /proc";

for (const platform of ["linux", "darwin"] as const) {
  const source = platform === "linux" ? "/proc" : "ps";
  const isHidden = skip || (source === "ps" && missingCommands("ps"));
  describe(`a process as ${source} shows it`, { skip: isHidden }, () => {
    // Linux has ps too.
    before(() => Object.defineProperty(process, "platform", { value: platform }));
    after(() => Object.defineProperty(process, "platform", { value: "linux" }));

    it("is known by its id and the time when it started", () => {
      const own = ownMark();
      assert.equal(own.pid, process.pid);
      assert.match(own.startedAt, platform === "linux" ? /^[1-9][0-9]*$/ : /^\S.* \d\d:\d\d:\d\d \d{4}$/);
      assert.equal(isRunning(own), true);
      assert.equal(isRunning({ ...own, startedAt: "0" }), false);
      assert.equal(isRunning({ pid: 2 ** 30, startedAt: "" }), false);
    });

    it("is a cluster's server where it runs with its folder", () => {
      assert.equal(isServerOf(server.pid ?? 0, CLUSTER), true);
      assert.equal(isServerOf(process.pid, CLUSTER), false);
      assert.equal(isServerOf(2 ** 30, CLUSTER), false);
      assert.equal(isServerOf(2 ** 30, ""), false);
      // What ps shows is one text, in which words have no ends.
      assert.equal(isServerOf(neighbour.pid ?? 0, CLUSTER), platform !== "linux");
    });
  });
}

it("a process that ended and that nobody waited for runs no more", { skip, timeout: 20_000 }, async () => {
  // The shell becomes a program that does not look for its child, which ends only then.
  const parent = spawn("/bin/sh", ["-c", 'cat <&3 & echo "$!"; exec sleep 60'], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  const [, stdout, , held] = parent.stdio;
  assert.ok(stdout !== null && stdout !== undefined && held instanceof Socket && parent.pid !== undefined);
  const [line] = await once(stdout, "data");
  const pid = Number(String(line));
  while (!isServerOf(parent.pid, "sleep")) await new Promise(setImmediate);
  held.end();
  // Of whatever words, also of none, as it has while it ends.
  while (isServerOf(pid, "")) await new Promise(setImmediate);
  assert.doesNotThrow(() => process.kill(pid, 0), "it is still listed");
  parent.kill();
});

it("a mark is read back, and what is none is not", () => {
  assert.deepEqual(parseMark('{"pid":7,"startedAt":"9","token":"x"}'), { pid: 7, startedAt: "9" });
  const wrong = ["", "{", "7", "null", "{}", '{"pid":7}', '{"startedAt":"9"}'];
  for (const text of [...wrong, '{"pid":"7","startedAt":"9"}', '{"pid":7,"startedAt":9}'])
    assert.equal(parseMark(text), undefined, text);
});
