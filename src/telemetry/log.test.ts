/** The content of a log line, as a reader of standard output gets it. */
import assert, { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { mountSmallDisk } from "../../test/support/small-disk.ts";

const disk = await mountSmallDisk(16);

type Line = Record<string, unknown>;

function sourceOf(program: string, level: string): string {
  const module = JSON.stringify(new URL("log.ts", import.meta.url).href);
  return `import { endLog, makeLog } from ${module}; const log = makeLog("${level}"); ${program}`;
}

/** The lines that a program writes with a log of this level. */
function linesOf(program: string, level = "info"): Line[] {
  const source = sourceOf(program, level);
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", source], { encoding: "utf8" });
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("a line of the log", () => {
  it("says which service, when and how grave", () => {
    const [line] = linesOf('log.warn({ times: 2 }, "something happened")');
    const { time, ...rest } = line ?? {};
    deepEqual(rest, { level: "warn", service: "postern", times: 2, msg: "something happened" });
    match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("is left out below the level", () => {
    const program = 'log.debug("one"); log.info("two"); log.error("three")';
    deepEqual(
      linesOf(program, "warn").map(({ msg }) => msg),
      ["three"],
    );
  });

  it("has no credential where one may stand", () => {
    const [line] = linesOf(
      `log.info({
        authorization: "Bearer a", secret: "whsec_b", headers: { authorization: "Bearer c", host: "h" },
        request: { authorization: "Bearer d", headers: { authorization: "Bearer e" } }, endpoint: { secret: "whsec_f", url: "u" },
      }, "x")`,
    );
    const masked = "[masked]";
    const { authorization, secret, headers, request, endpoint } = line ?? {};
    deepEqual(
      { authorization, secret, headers, request, endpoint },
      {
        authorization: masked,
        secret: masked,
        headers: { authorization: masked, host: "h" },
        request: { authorization: masked, headers: { authorization: masked } },
        endpoint: { secret: masked, url: "u" },
      },
    );
  });

  it("has of an error its name, text, code and place, and nothing that a library hung on it", () => {
    const [line] = linesOf(
      `const err = Object.assign(new RangeError("no room"), { code: "23505", detail: "Key (secret)=(whsec_a)", where: "row" });
      err.cause = new Error("whsec_b");
      log.error({ err }, "x")`,
    );
    const { stack, ...rest } = Object(line?.["err"]);
    deepEqual(rest, { type: "RangeError", message: "no room", code: "23505" });
    match(String(stack), /^RangeError: no room\n +at /);
    equal(JSON.stringify(line).includes("whsec"), false);
  });

  it("has of several errors in one the same of each", () => {
    const [line] = linesOf(
      `const one = Object.assign(new RangeError("no room"), { code: "23505", detail: "Key (secret)=(whsec_a)" });
      log.error({ err: new AggregateError([one, "gone"], "both") }, "x")`,
    );
    const { message, errors } = Object(line?.["err"]);
    const [{ stack, ...rest }, other] = errors;
    deepEqual(
      [message, rest, other],
      ["both", { type: "RangeError", message: "no room", code: "23505" }, { message: "gone" }],
    );
    match(String(stack), /^RangeError: no room\n +at /);
  });

  it("has the text of what was thrown and is no error", () => {
    const [line] = linesOf('log.error({ err: "out of paper" }, "x")');
    deepEqual(line?.["err"], { message: "out of paper" });
  });
});

describe("a log whose disk is full", { skip: disk === null && "only root may mount the small disk" }, () => {
  after(() => disk?.unmount());

  it("keeps its lines until there is room, tells how many it lost, and its program goes on and ends", async (t) => {
    assert.ok(disk !== null);
    const path = join(disk.folder, "log");
    const file = await open(path, "a");
    await disk.fill();
    const program = `process.on("message", (lines) => {
      if (lines === 0) return void endLog(log).then(() => process.exit(3));
      for (let n = 0; n < lines; n++) log.info({ filling: "x".repeat(1000) }, "told");
      setTimeout(() => process.send("done"), 100);
    });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", sourceOf(program, "info")], {
      stdio: ["ignore", file.fd, "inherit", "ipc"],
    });
    t.after(() => child.kill("SIGKILL"));
    await file.close();
    const write = async (lines: number): Promise<void> => {
      child.send(lines);
      deepEqual(await once(child, "message"), ["done", undefined]);
    };
    const messages = async () => (await readFile(path, "utf8")).trimEnd().split("\n");
    await write(2);
    await write(1);
    equal((await stat(path)).size, 0);
    await disk.free();
    await write(1);
    equal((await messages()).length, 4);
    await truncate(path);
    await disk.fill();
    await write(6000);
    await disk.free();
    await write(1);
    await eventually(async () => (await messages()).some((line) => line.includes("were lost")));
    const told = (await messages()).map((line) => JSON.parse(line));
    const { lines, level, err } = told.find(({ msg }) => msg !== "told");
    deepEqual([level, err.code], ["warn", "ENOSPC"]);
    equal(told.filter(({ msg }) => msg === "told").length + lines, 6001);
    ok(lines > 500);
    await disk.fill();
    await write(1);
    child.send(0);
    deepEqual(await once(child, "exit"), [3, null]);
  });
});

describe("the end of a log", () => {
  const end =
    'log.error("one"); log.error("two"); endLog(log).then(() => process.exit(3)); log.error("late")';

  it("comes when its lines are written", () => {
    const program = end.replace("exit(3)", "exit(0)");
    deepEqual(
      linesOf(program).map(({ msg }) => msg),
      ["one", "two"],
    );
  });

  it("comes as well where nobody reads them any more", { timeout: 20_000 }, async (t) => {
    const program = `console.log("begun"); process.stdin.once("data", () => { ${end} })`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", sourceOf(program, "info")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    t.after(() => child.kill("SIGKILL"));
    await once(child.stdout, "data");
    child.stdout.destroy();
    await once(child.stdout, "close");
    child.stdin.write("end");
    deepEqual(await once(child, "exit"), [3, null]);
  });
});
