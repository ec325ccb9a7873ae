import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { accepts, freePort } from "../../../test/support/free-port.ts";
import { startOnFreePort } from "./embedded-port.ts";

let path: string;
before(async () => {
  path = join(await mkdtemp(join(tmpdir(), "postern-port-")), "port");
});
after(() => rm(join(path, ".."), { recursive: true }));

/** Starts after so many failures, and tells the ports it was asked for. */
function starter(failures = 0) {
  const ports: number[] = [];
  const start = async (port: number): Promise<string> => {
    ports.push(port);
    assert.equal(await accepts(port), false);
    if (ports.length <= failures) throw new Error(`no start ${ports.length}`);
    return "child";
  };
  return { ports, start };
}

const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port < 65_536;

describe("the port of the embedded database", () => {
  it("is the one that is asked for, and no other is tried or noted", async () => {
    const { ports, start } = starter();
    const port = await freePort();
    assert.deepEqual(await startOnFreePort(path, port, start), { child: "child", port });
    const failing = starter(1);
    await assert.rejects(startOnFreePort(path, port, failing.start), { message: "no start 1" });
    assert.deepEqual([ports, failing.ports, existsSync(path)], [[port], [port], false]);
  });

  it("is any at first, and then the same again while it is free", async () => {
    const { ports, start } = starter();
    const { port, child } = await startOnFreePort(path, undefined, start);
    assert.ok(isPort(port));
    assert.deepEqual([child, await readFile(path, "utf8")], ["child", String(port)]);
    const last = await freePort();
    await writeFile(path, String(last));
    assert.equal((await startOnFreePort(path, undefined, start)).port, last);
    const taken = createServer().listen(last, "127.0.0.1");
    await once(taken, "listening");
    const other = (await startOnFreePort(path, undefined, start)).port;
    assert.ok(isPort(other) && other !== last);
    assert.deepEqual(ports, [port, last, other]);
    taken.close();
  });

  it("is any where the last one is no port", async () => {
    for (const text of ["", "0", "-1", "1.5", "65536", "none"]) {
      await writeFile(path, text);
      const { port } = await startOnFreePort(path, undefined, starter().start);
      assert.ok(isPort(port), text);
      assert.equal(await readFile(path, "utf8"), String(port));
    }
  });

  it("is another at each of two more tries where the start fails, and then that failure", async () => {
    const last = String(await freePort());
    await writeFile(path, last);
    const { ports, start } = starter(2);
    const { port } = await startOnFreePort(path, undefined, start);
    assert.deepEqual([ports.length, String(ports[0]), ports[2]], [3, last, port]);
    assert.ok(!ports.slice(1).includes(Number(last)));
    await writeFile(path, last);
    const failing = starter(3);
    await assert.rejects(startOnFreePort(path, undefined, failing.start), { message: "no start 3" });
    assert.equal(failing.ports.length, 3);
    assert.equal(await readFile(path, "utf8"), last);
  });
});
