/** Passing requests on, to real programs of this machine. */
import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { buffer } from "node:stream/consumers";
import { listen } from "../../test/support/tls-receiver.ts";
import { makeForwarder, parseLoopbackUrl, type Forwarder } from "./forward.ts";

/** No busy machine takes so long. */
const PATIENT_MS = 30_000;

async function serverFor(
  test: TestContext,
  answer: RequestListener,
): Promise<{ server: Server; port: number }> {
  const server = createServer(answer);
  const port = await listen(server);
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port };
}

function forwarderFor(test: TestContext, url: string, timeoutMs = PATIENT_MS): Forwarder {
  const parsed = parseLoopbackUrl(url);
  ok(parsed !== null, url);
  const forwarder = makeForwarder(parsed, timeoutMs);
  test.after(() => forwarder.close());
  return forwarder;
}

describe("a URL to pass requests on to", () => {
  for (const url of [
    "http://localhost:3000/hook?a=b",
    "http://LOCALHOST/",
    "http://127.0.0.1:8080",
    "http://127.1.2.3/",
    "http://[::1]:3000/",
  ]) {
    it(`may be ${url}`, () => equal(parseLoopbackUrl(url)?.href, new URL(url).href));
  }

  for (const url of [
    "",
    "localhost:3000",
    "https://localhost:3000/",
    "ftp://localhost/",
    "http://user@localhost/",
    "http://:secret@localhost/",
    "http://example.com/",
    "http://localhost.example.com/",
    "http://127.0.0.1.example.com/",
    "http://128.0.0.1/",
    "http://10.0.0.1/",
    "http://0.0.0.0/",
    "http://[::2]/",
    "http://[::]/",
  ]) {
    it(`may not be ${JSON.stringify(url)}`, () => equal(parseLoopbackUrl(url), null));
  }
});

describe("a request that is passed on", () => {
  it("arrives as it is, by its address and by the name localhost, and its answer comes back", async (test) => {
    const seen: [IncomingMessage, string][] = [];
    const { port } = await serverFor(test, (request, response) => {
      void buffer(request).then((body) => {
        seen.push([request, body.toString("utf8")]);
        return response.writeHead(202).end("thänks");
      });
    });
    for (const host of ["127.0.0.1", "localhost"]) {
      const forwarder = forwarderFor(test, `http://${host}:${port}/hook?a=b`);
      const forwarded = await forwarder.forward({ "webhook-id": "018f", "X-Team": "é" }, '{"a":"ä"}');
      deepEqual(forwarded, { kind: "answered", status: 202, body: "thänks" }, host);
      const [request, body] = seen.pop() ?? [];
      deepEqual(
        [request?.method, request?.url, request?.headers["webhook-id"], request?.headers["x-team"], body],
        ["POST", "/hook?a=b", "018f", "é", '{"a":"ä"}'],
        host,
      );
    }
  });

  it("shows the first 4,096 bytes of the answer, and reads all of it", async (test) => {
    const { port } = await serverFor(test, (_request, response) => {
      response.write("a".repeat(4_000));
      setImmediate(() => response.end(`${"b".repeat(96)}c${"d".repeat(100_000)}`));
    });
    const forwarder = forwarderFor(test, `http://127.0.0.1:${port}/`);
    for (let count = 0; count < 2; count++) {
      const forwarded = await forwarder.forward({}, "");
      deepEqual(forwarded, { kind: "answered", status: 200, body: "a".repeat(4_000) + "b".repeat(96) });
    }
  });

  it("uses the connection of the one before, which ends with the forwarder", async (test) => {
    const ports = new Set<number | undefined>();
    const closed = Promise.withResolvers<void>();
    const { server, port } = await serverFor(test, (request, response) => {
      ports.add(request.socket.remotePort);
      request.socket.once("close", () => closed.resolve());
      response.end();
    });
    // Only the forwarder's own end closes a connection.
    server.keepAliveTimeout = 0;
    const forwarder = forwarderFor(test, `http://127.0.0.1:${port}/`);
    await forwarder.forward({}, "1");
    await forwarder.forward({}, "2");
    equal(ports.size, 1);
    forwarder.close();
    await closed.promise;
  });
});

describe("a request that cannot be passed on", () => {
  it("has the code of its fault where nothing listens", async (test) => {
    const { server, port } = await serverFor(test, () => {});
    await new Promise((resolve) => server.close(resolve));
    for (const host of ["127.0.0.1", "localhost"]) {
      deepEqual(
        await forwarderFor(test, `http://${host}:${port}/`).forward({}, ""),
        { kind: "failed", code: "ECONNREFUSED" },
        host,
      );
    }
  });

  it("is a timeout where no answer begins", async (test) => {
    const { port } = await serverFor(test, () => {});
    const forwarder = forwarderFor(test, `http://127.0.0.1:${port}/`, 50);
    deepEqual(await forwarder.forward({}, ""), { kind: "failed", code: "timeout" });
  });

  it("is a timeout where an answer does not end", async (test) => {
    const { port } = await serverFor(test, (_request, response) => {
      response.write("begun");
    });
    const forwarder = forwarderFor(test, `http://127.0.0.1:${port}/`, 200);
    deepEqual(await forwarder.forward({}, ""), { kind: "failed", code: "timeout" });
  });

  it("is failed where the connection ends inside the answer", async (test) => {
    const { port } = await serverFor(test, (_request, response) => {
      response.writeHead(200, { "Content-Length": "100" });
      response.write("half", () => response.destroy());
    });
    const forwarded = await forwarderFor(test, `http://127.0.0.1:${port}/`).forward({}, "");
    equal(forwarded.kind, "failed");
    ok(forwarded.kind === "failed");
    notEqual(forwarded.code, "timeout");
  });
});
