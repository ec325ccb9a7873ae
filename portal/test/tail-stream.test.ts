/** The stream of the live tail as it comes over the network, from a server that sends what each test says. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { after, describe, it, type TestContext } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { loadModule } from "./support/page.ts";

type Listener = {
  onOpen: (signal: AbortSignal) => void;
  onRow: (row: unknown) => void;
  onGap: (skipped: number | null) => void;
  onState: (state: string) => void;
};
type Module = { watchLog: (endpointId: string | undefined, listener: Listener) => () => void };

let answer: (response: ServerResponse, request: IncomingMessage) => void;
const asked: (string | undefined)[] = [];
const server = createServer((request, response) => {
  asked.push(request.url);
  answer(response, request);
});
const baseUrl = `http://127.0.0.1:${await listen(server)}/portal/`;
after(() => {
  server.closeAllConnections();
  server.close();
});
const { watchLog } = await loadModule<Module>("pages/log/live-tail.ts", { baseUrl });

/** Watches until the test's end, and answers what was told. */
function watch(test: TestContext, endpointId?: string) {
  const told: unknown[] = [];
  asked.length = 0;
  const end = watchLog(endpointId, {
    onOpen: () => told.push("open"),
    onRow: (row) => told.push(row),
    onGap: (skipped) => told.push({ skipped }),
    onState: (state) => told.push(state),
  });
  test.after(end);
  return { told, end };
}

/** Sends these parts one after another, so that as a rule each is read on its own. */
async function send(response: ServerResponse, parts: readonly (string | Buffer)[]): Promise<void> {
  for (const part of parts) {
    await new Promise((resolve) => response.write(part, resolve));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("the live tail", () => {
  it("takes messages as they come, in whatever parts, and passes pings and others over", async (test) => {
    const opened = Promise.withResolvers<ServerResponse>();
    answer = (response) => opened.resolve(response.writeHead(200));
    const { told } = watch(test, "e1");
    const response = await opened.promise;
    response.flushHeaders();
    const umlaut = Buffer.from('event: delivery\ndata: {"id":"ü"}\n\n');
    const cut = umlaut.indexOf(0xc3) + 1;
    await send(response, [
      ': ping\n\nevent: other\ndata: {"id":"o"}\n\nevent: delivery\nda',
      'ta: {"id":"a"}\n\nevent: gap\ndata: {"skipped":7}\n\nevent: delivery\ndata: {"id":"b"}\n',
      "\nevent: gap\n\n",
      umlaut.subarray(0, cut),
      umlaut.subarray(cut),
    ]);
    await eventually(async () => told.length >= 6);
    assert.deepEqual(told, ["watching", "open", { id: "a" }, { skipped: 7 }, { id: "b" }, { id: "ü" }]);
    assert.deepEqual(asked, ["/api/deliveries/stream?endpoint_id=e1"]);
  });

  it("opens a stream that ended at once anew, for all endpoints where none is named", async (test) => {
    const again = Promise.withResolvers<void>();
    answer = (response) => {
      if (asked.length === 2) return again.resolve();
      return void response.writeHead(200).end();
    };
    const { told } = watch(test);
    await again.promise;
    assert.deepEqual(told, ["watching", "open", "waiting"]);
    assert.deepEqual(asked, ["/api/deliveries/stream", "/api/deliveries/stream"]);
  });

  it("tells and asks nothing once one looks no more", async (test) => {
    const opened = Promise.withResolvers<ServerResponse>();
    answer = (response) => opened.resolve(response);
    const { told, end } = watch(test);
    const response = await opened.promise;
    const isClosed = new Promise((resolve) => response.once("close", resolve));
    end();
    await isClosed;
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(told, []);
    assert.equal(asked.length, 1);
  });

  it("waits after a stream that was refused, and no longer after one that broke off since", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    answer = (response) => {
      if (asked.length === 1) return void response.writeHead(429).end("{}");
      if (asked.length === 2) return response.writeHead(200).flushHeaders();
      return undefined;
    };
    const { told } = watch(test);
    await eventually(async () => told.length === 1);
    test.mock.timers.tick(1999);
    assert.equal(asked.length, 1);
    test.mock.timers.tick(1);
    await eventually(async () => told.includes("open"));
    server.closeAllConnections();
    await eventually(async () => told.length === 4);
    test.mock.timers.tick(1999);
    assert.equal(asked.length, 2);
    test.mock.timers.tick(1);
    await eventually(async () => asked.length === 3);
    assert.deepEqual(told, ["waiting", "watching", "open", "waiting"]);
  });
});
