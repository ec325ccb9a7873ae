import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { makeLog } from "../telemetry/log.ts";
import { stopOnSignal, type Stoppable } from "./run.ts";

/** What happened, in order. */
let done: string[] = [];
let ended = Promise.withResolvers<void>();
const exited = () => done.filter((word) => word.startsWith("exit"));

beforeEach(() => {
  done = [];
  ended = Promise.withResolvers();
  mock.method(process, "exit", (code: number) => {
    done.push(`exit ${code}`);
    ended.resolve();
  });
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
  process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM").removeAllListeners("disconnect");
  delete process.env["POSTERN_EXTRA_WORKER"];
});

const part = (name: string, stop: () => Promise<void> = async () => undefined): Stoppable => ({
  async stop() {
    done.push(`stop ${name}`);
    await stop();
    done.push(`${name} stopped`);
  },
});

/** Until what was begun by a signal has come to its end. */
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));
const failing = () => Promise.reject(new Error("no"));
const never = () => new Promise<void>(() => undefined);

describe("a process that is told to stop", () => {
  it("stops its parts one after the other, the last that started first, and ends well", async () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      done = [];
      ended = Promise.withResolvers();
      const parts = [part("one")];
      stopOnSignal(parts, makeLog("silent"));
      parts.push(part("other", settled));
      process.emit(signal);
      await ended.promise;
      assert.deepEqual(done, ["stop other", "other stopped", "stop one", "one stopped", "exit 0"]);
      process.removeAllListeners(signal === "SIGINT" ? "SIGTERM" : "SIGINT");
      process.removeAllListeners(signal);
    }
  });

  it("ends with 1 where a part cannot stop, once the others have", async () => {
    stopOnSignal([part("one"), part("other", failing)], makeLog("silent"));
    process.emit("SIGTERM");
    await ended.promise;
    assert.deepEqual(done, ["stop other", "stop one", "one stopped", "exit 1"]);
  });

  it("ends at once at a second signal, but not at one that comes right behind the first", async () => {
    let now = 5000;
    mock.method(performance, "now", () => now);
    stopOnSignal([part("one", never)], makeLog("silent"));
    process.emit("SIGINT");
    now += 1000;
    process.emit("SIGINT");
    await settled();
    assert.deepEqual(done, ["stop one"]);
    now += 1;
    process.emit("SIGTERM");
    await ended.promise;
    assert.deepEqual(exited(), ["exit 1"]);
  });

  it("ends with 1 where it has not stopped after 25 seconds", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    stopOnSignal([part("one", never)], makeLog("silent"));
    process.emit("SIGTERM");
    mock.timers.tick(24_999);
    await settled();
    assert.deepEqual(exited(), []);
    mock.timers.tick(1);
    await ended.promise;
    assert.deepEqual(exited(), ["exit 1"]);
  });

  it("that is an extra worker also stops once the process that started it is gone, and another does not", async () => {
    stopOnSignal([part("one")], makeLog("silent"));
    process.emit("disconnect");
    await settled();
    assert.deepEqual(done, []);
    process.env["POSTERN_EXTRA_WORKER"] = "1";
    stopOnSignal([part("one")], makeLog("silent"));
    process.emit("disconnect");
    await ended.promise;
    assert.deepEqual(done, ["stop one", "one stopped", "exit 0"]);
  });
});
