import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { afterEach, describe, it } from "node:test";
import { holdWaits, releaseWaits } from "../../../test/support/held-waits.ts";
import type { EmbeddedOptions, EmbeddedServer } from "./embedded.ts";
import { keepEmbeddedPostgres, Tries } from "./embedded-keeper.ts";

/** The pauses before each of so many tries, all of which fail. */
function pausesOf(tries: Tries, count: number, reason = "it does not start"): (number | undefined)[] {
  return Array.from({ length: count }, () => {
    const pauseMs = tries.pauseMs();
    assert.equal(tries.failed(reason), true);
    return pauseMs;
  });
}

describe("the tries to start the embedded database again", () => {
  it("come after growing pauses, and are used up after five", () => {
    assert.deepEqual(pausesOf(new Tries(), 6), [0, 1000, 2000, 4000, 8000, undefined]);
  });

  it("are used up by starts too, until one ran for long", () => {
    const tries = new Tries();
    tries.succeeded();
    tries.succeeded();
    assert.equal(tries.pauseMs(), 2000);
    tries.forget();
    assert.deepEqual(pausesOf(tries, 2), [0, 1000]);
  });

  it("are used up where it is the shared memory that is full", () => {
    const tries = new Tries();
    tries.failed(
      'FATAL: could not resize shared memory segment "/PostgreSQL.1" to 1048576 bytes: No space left on device',
    );
    assert.deepEqual([tries.isDiskFull, tries.pauseMs()], [false, 1000]);
  });

  it("are not used up by a full disk, which is told once", () => {
    const tries = new Tries();
    tries.failed("it does not start");
    const full = [
      "PANIC: could not write: No space left on device",
      "ENOSPC: no space left on device, write",
      'FATAL: could not extend file "base/1/2": wrote only 4096 of 8192 bytes at block 3',
    ];
    const told = full.map((reason) => tries.failed(reason));
    assert.deepEqual([told, tries.isDiskFull, tries.pauseMs()], [[true, false, false], true, 2000]);
    tries.succeeded();
    assert.deepEqual([tries.isDiskFull, tries.pauseMs()], [false, 1000]);
    for (const reason of full) tries.failed(reason);
    assert.equal(tries.failed("it does not start"), true);
    assert.deepEqual([tries.isDiskFull, tries.pauseMs()], [false, 2000]);
    assert.equal(tries.failed(full[0] ?? ""), true);
  });
});

/** A server that a test ends, and how it was asked for. */
class Servers {
  readonly asked: EmbeddedOptions[] = [];
  readonly stopped: number[] = [];
  /** What a start does in place of starting, by its place. */
  readonly faults = new Map<number, Error>();
  joined: string | null = null;
  isLeft = false;
  #end: () => void = () => undefined;

  readonly start = async (options: EmbeddedOptions): Promise<EmbeddedServer> => {
    const place = this.asked.push(options);
    const fault = this.faults.get(place);
    if (fault !== undefined) throw fault;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    const stop = async () => void this.stopped.push(place);
    return {
      url: `postgres://postern:pw@127.0.0.1:6000/${place}`,
      joined: this.joined,
      isLeft: () => this.isLeft,
      stop,
      ended: promise,
    };
  };

  end(): void {
    this.#end();
  }
}

async function keep(servers: Servers) {
  const waits = holdWaits();
  const lines: string[] = [];
  const failures: string[] = [];
  const log = {
    info: (text: string) => void lines.push(`info ${text}`),
    warn: (text: string) => void lines.push(`warn ${text}`),
  };
  const options = { dataDir: "/data", log, settings: { fsync: "off" } };
  const kept = await keepEmbeddedPostgres(options, (reason) => void failures.push(reason), servers.start);
  return { ...kept, waits, lines, failures, options };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

const ENDED = "warn The embedded database ended by itself; server.log says why. It is started again.";
const RUNS = "info The embedded database runs again.";
const notStarted = (why: string) => `warn The embedded database could not be started again: ${why}`;

describe("the embedded database that is kept running", () => {
  afterEach(releaseWaits);

  it("is started again where it was, after a growing pause, once it ended by itself", async () => {
    const servers = new Servers();
    const { url, options, waits, lines, failures, trouble, stop } = await keep(servers);
    assert.equal(url, "postgres://postern:pw@127.0.0.1:6000/1");
    for (let again = 1; again <= 2; again++) {
      servers.end();
      await until(() => waits.length === again);
      waits.at(-1)?.end();
      await until(() => lines.length === 2 * again);
    }
    const asked = { ...options, port: 6000, isRestart: true };
    assert.deepEqual(servers.asked, [options, asked, asked]);
    assert.deepEqual(lines, [ENDED, RUNS, ENDED, RUNS]);
    assert.deepEqual(
      waits.map(({ ms }) => ms),
      [0, 1000],
    );
    assert.equal(trouble(), null);
    await Promise.all([stop(), stop()]);
    assert.deepEqual([servers.stopped, failures], [[3], []]);
  });

  it("has all its tries again once it ran for long", async (test) => {
    let nowMs = 0;
    test.mock.method(performance, "now", () => nowMs);
    const servers = new Servers();
    const { waits, lines, stop } = await keep(servers);
    for (const [again, ranMs] of [60_000, 60_000, 60_001, 0].entries()) {
      nowMs += ranMs;
      servers.end();
      await until(() => waits.length === again + 1);
      waits.at(-1)?.end();
      await until(() => lines.length === 2 * (again + 1));
    }
    assert.deepEqual(
      waits.map(({ ms }) => ms),
      [0, 1000, 0, 1000],
    );
    await stop();
  });

  it("is given up once its tries are used up, which is told once", async () => {
    const servers = new Servers();
    const { waits, lines, failures, stop } = await keep(servers);
    for (let place = 2; place <= 6; place++) servers.faults.set(place, new Error(`fault ${place}`));
    servers.end();
    for (let place = 1; place <= 5; place++) {
      await until(() => waits.length === place);
      waits.at(-1)?.end();
    }
    await until(() => failures.length > 0);
    assert.deepEqual(failures, ["The embedded database could not be started again"]);
    assert.deepEqual(lines, [ENDED, ...[2, 3, 4, 5, 6].map((place) => notStarted(`fault ${place}`))]);
    await stop();
    assert.equal(servers.asked.length, 6);
  });

  it("waits for space on a full disk, and says that it is full until it runs", async () => {
    const servers = new Servers();
    const { waits, lines, failures, trouble, stop } = await keep(servers);
    const full = new Error("PANIC: No space left on device");
    for (let place = 2; place <= 9; place++) servers.faults.set(place, full);
    servers.end();
    for (let tries = 1; tries <= 9; tries++) {
      await until(() => waits.length === tries);
      assert.equal(trouble(), tries > 1 ? "disk_full" : null);
      waits.at(-1)?.end();
    }
    await until(() => lines.length === 3);
    assert.deepEqual([lines, failures], [[ENDED, notStarted(full.message), RUNS], []]);
    assert.deepEqual([waits[0]?.ms, new Set(waits.slice(1).map(({ ms }) => ms))], [0, new Set([2000])]);
    assert.equal(trouble(), null);
    await stop();
  });

  it("is not started again once it is stopped, also in a pause, and that is no failure", async () => {
    const servers = new Servers();
    const { waits, lines, failures, stop } = await keep(servers);
    servers.end();
    await until(() => waits.length === 1);
    await stop();
    assert.deepEqual([servers.asked.length, lines, failures], [1, [ENDED], []]);
  });

  const skip = process.platform === "linux" ? false : "needs /proc";
  it("has a full disk where it was joined and too little is free there", { skip }, async () => {
    for (const [folder, isFull] of [
      [tmpdir(), false],
      ["/proc", true],
      ["/no such folder", false],
    ] as const) {
      const servers = new Servers();
      servers.joined = folder;
      const { trouble, isJoined, stop } = await keep(servers);
      assert.deepEqual([trouble(), isJoined], [isFull ? "disk_full" : null, true], folder);
      servers.isLeft = true;
      assert.equal(trouble(), isFull ? "disk_full" : "left");
      await stop();
      releaseWaits();
    }
  });
});
