/** Which connections are served when there are too many; a test of the running program shows it with requests. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { listen } from "../../test/support/tls-receiver.ts";
import { Connections, type ConnectionLimits } from "./connections.ts";

const LIMITS = { maxConnections: 4, maxConnectionsPerAddress: 2, reservedConnections: 1 };
const [HERE, ONE, OTHER] = ["127.0.0.1", "203.0.113.1", "203.0.113.2"];

let server: Server;
let closed: string[];
let clients: Socket[];

beforeEach(() => {
  [closed, clients] = [[], []];
});
afterEach(() => {
  clients.forEach((client) => client.destroy());
  server.close();
});

/** Requests are answered at the word of the test, by their paths. */
async function serve(limits: Partial<ConnectionLimits> = {}, trustedProxies: readonly string[] = []) {
  server = createServer();
  const seenAs: string[] = [];
  // Before the connections are counted, as the kernel would tell it.
  server.on("connection", (socket: Socket) => {
    Object.defineProperty(socket, "remoteAddress", { value: seenAs.shift() });
  });
  const connections = new Connections(
    server,
    { ...LIMITS, ...limits },
    { trustedProxies, closed: (why) => closed.push(why) },
  );
  const answers = new Map<string, ServerResponse>();
  const begun: { url: string; isReserved: boolean }[] = [];
  server.on("request", (request, response) => {
    const url = request.url ?? "";
    begun.push({ url, ...connections.startRequest(request, response) });
    answers.set(url, response);
  });
  const port = await listen(server);

  /** A connection from an address; with a request under way where a path is given. Whether it was taken. */
  async function arrive(address: string, url?: string): Promise<{ client: Socket; isOpen: () => boolean }> {
    seenAs.push(address);
    const accepted = once(server, "connection");
    const client = connect(port, HERE).on("error", () => undefined);
    clients.push(client);
    const [served] = await accepted;
    if (url !== undefined && !served.destroyed) {
      const requested = once(server, "request");
      client.write(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await requested;
    }
    return { client, isOpen: () => !served.destroyed };
  }

  async function answer(url: string): Promise<void> {
    const response = answers.get(url);
    assert.ok(response !== undefined);
    await once(response.end(), "close");
  }
  return { arrive, answer, begun, connections };
}

const areOpen = (all: readonly { isOpen: () => boolean }[]): boolean[] => all.map(({ isOpen }) => isOpen());

describe("connections", { timeout: 20_000 }, () => {
  it("of one address are bounded: a further one takes the place of its own idle one, the oldest first", async () => {
    const { arrive } = await serve();
    const all = [await arrive(ONE), await arrive(ONE), await arrive(ONE), await arrive(OTHER)];
    assert.deepEqual([areOpen(all), closed], [[false, true, true, true], ["idle"]]);
  });

  it("of one address that are all busy leave no room for another of it, and are let be", async () => {
    const { arrive, begun } = await serve();
    const all = [await arrive(ONE, "/a"), await arrive(ONE, "/b"), await arrive(ONE), await arrive(OTHER)];
    assert.deepEqual([areOpen(all), closed], [[true, true, false, true], ["refused"]]);
    assert.deepEqual(begun, [
      { url: "/a", isReserved: false },
      { url: "/b", isReserved: false },
    ]);
  });

  it("are idle again once they are answered, and the last to be so goes last", async () => {
    const { arrive, answer } = await serve();
    const first = await arrive(ONE, "/a");
    const second = await arrive(ONE);
    await answer("/a");
    const third = await arrive(ONE);
    assert.deepEqual([areOpen([first, second, third]), closed], [[true, false, true], ["idle"]]);
    const fourth = await arrive(ONE);
    assert.deepEqual(
      [areOpen([first, third, fourth]), closed],
      [
        [false, true, true],
        ["idle", "idle"],
      ],
    );
  });

  it("have no bound from this machine or a trusted proxy", async () => {
    const { arrive } = await serve({ maxConnections: 8 }, ["203.0.113.0/30"]);
    const all = [];
    for (const address of [HERE, "::1", "127.9.9.9", ONE])
      all.push(await arrive(address), await arrive(address));
    all.push(await arrive(ONE));
    assert.deepEqual(areOpen(all).filter((isOpen) => isOpen).length, 8);
    assert.deepEqual(closed, ["idle"]);
  });

  it("are given up when all are taken: idle ones of the address that has most, bounded ones first", async () => {
    const { arrive } = await serve({ maxConnectionsPerAddress: 3 });
    const all = [await arrive(HERE), await arrive(HERE), await arrive(ONE), await arrive(OTHER)];
    all.push(await arrive(OTHER));
    assert.deepEqual(areOpen(all), [true, true, false, true, true]);
    all.push(await arrive(ONE));
    assert.deepEqual(areOpen(all), [true, true, false, false, true, true]);
    all.push(await arrive(HERE), await arrive(HERE));
    assert.deepEqual(areOpen(all), [true, true, false, false, false, false, true, true]);
    all.push(await arrive(ONE));
    assert.deepEqual(areOpen(all), [false, true, false, false, false, false, true, true, true]);
    assert.deepEqual(closed, Array(5).fill("idle"));
  });

  it("are given up by a bounded address before an unbounded one that has more", async () => {
    const { arrive } = await serve({ maxConnections: 3 });
    const all = [await arrive(ONE), await arrive(HERE), await arrive(HERE), await arrive(OTHER)];
    assert.deepEqual(areOpen(all), [false, true, true, true]);
  });

  it("beyond those that are all busy are a few, for the operator alone, and no more", async () => {
    const { arrive, begun } = await serve({ maxConnections: 2 });
    const all = [
      await arrive(HERE, "/a"),
      await arrive(HERE, "/b"),
      await arrive(ONE, "/health"),
      await arrive(OTHER),
    ];
    assert.deepEqual([areOpen(all), closed], [[true, true, true, false], ["refused"]]);
    assert.deepEqual(
      begun.map(({ isReserved }) => isReserved),
      [false, false, true],
    );
    all[2]?.client.destroy();
    all[0]?.client.destroy();
    while (areOpen(all).filter((isOpen) => isOpen).length > 1) await new Promise(setImmediate);
    const next = await arrive(ONE, "/c");
    const last = await arrive(ONE, "/d");
    assert.deepEqual(
      begun.slice(3).map(({ isReserved }) => isReserved),
      [false, true],
    );
    assert.deepEqual(areOpen([next, last]), [true, true]);
  });

  it("of an address that has gone are forgotten, and count anew", async () => {
    const { arrive } = await serve();
    const gone = [await arrive(ONE, "/a"), await arrive(ONE, "/b")];
    gone.forEach(({ client }) => client.destroy());
    while (areOpen(gone).includes(true)) await new Promise(setImmediate);
    const all = [await arrive(ONE, "/c"), await arrive(ONE, "/d"), await arrive(ONE)];
    assert.deepEqual([areOpen(all), closed], [[true, true, false], ["refused"]]);
  });
});
