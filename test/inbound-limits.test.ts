/** What reaches the API's socket before anybody is known: each limit holds, and each no is JSON with a request id. */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { Server, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { after, before, describe, it, mock } from "node:test";
import { exchange, exchangeSlowly, open, parseAnswer } from "./support/raw-http.ts";
import { OWNER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

const BODY = '{"url":"https://hooks.example.com/in"}';
const HEALTH = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";

let service: TestService;
/** With short limits, for requests that run into them: a busy machine may take as long for any other. */
let hasty: TestService;
let authorization: string;

before(async () => {
  service = await startTestService({ roles: ["api"], httpLimits: { stallTimeoutMs: 3_000 } });
  const { database, env } = service;
  hasty = await startTestService({
    roles: ["api"],
    database,
    env,
    httpLimits: {
      headersTimeoutMs: 1_000,
      requestTimeoutMs: 2_000,
      keepAliveTimeoutMs: 100,
      checkEveryMs: 50,
    },
  });
  authorization = `Authorization: Bearer ${await service.token(OWNER)}\r\n`;
});
after(async () => {
  await hasty.stop();
  await service.stop();
});

/** A request to create an endpoint, by an owner, with these header lines and this body. */
const create = (headers: string, body = BODY) =>
  `POST /api/webhooks HTTP/1.1\r\nHost: x\r\n${authorization}${headers}\r\n${body}`;

function assertAnswer(received: string, status: number, error: string): void {
  const answer = parseAnswer(received);
  assert.deepEqual([answer.status, answer.body], [status, { error }], received.slice(0, 300));
  assert.match(answer.requestId, /^[0-9a-f-]{36}$/);
}

async function endpointCount(): Promise<number> {
  const { rows } = await service.database.pool.query("SELECT count(*)::int AS n FROM postern.endpoints");
  return rows[0]?.n;
}

describe("bytes that are no HTTP request", () => {
  const cases: Record<string, () => string> = {
    "a line that is none": () => "nonsense\r\n\r\n",
    "HTTP/2 without being asked": () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a TLS handshake": () => "\u0016\u0003\u0001\u0000\u00a5\u0001\r\n\r\n",
    "NUL in a header": () => "GET /health HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n",
    "lines that end in LF alone": () => "GET /health HTTP/1.1\nHost: x\n\n",
    "a header folded over two lines": () => "GET /health HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n",
    "no Host": () => "GET /health HTTP/1.1\r\n\r\n",
    "two Hosts": () => "GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
  };
  for (const [name, bytes] of Object.entries(cases)) {
    it(`get 400: ${name}`, async () =>
      assertAnswer(await exchange(service.url, bytes()), 400, "Bad Request"));
  }

  it("end the connection where they name no host, or two", async () => {
    for (const name of ["no Host", "two Hosts"] as const) {
      const received = await exchange(service.url, `${cases[name]?.() ?? ""}${HEALTH}`, 2);
      assertAnswer(received, 400, "Bad Request");
      assert.equal(received.split("HTTP/1.1 ").length, 2, name);
    }
  });

  it("get 417 where they expect what is not 100-continue", async () => {
    const received = await exchange(service.url, create("Expect: more\r\nContent-Length: 38\r\n"));
    assertAnswer(received, 417, "Expectation Failed");
  });

  it("are no way through to another host", async () => {
    assert.equal(await exchange(service.url, "CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: x\r\n\r\n"), "");
    const absolute = "GET http://127.0.0.1:80/ HTTP/1.1\r\nHost: x\r\n\r\n";
    assertAnswer(await exchange(service.url, absolute), 404, "Not found");
  });

  it("after a whole request leave it its own answer, and end the connection", async () => {
    const received = await exchange(service.url, `${HEALTH}nonsense\r\n\r\n${HEALTH}`, 3);
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    assert.deepEqual(statuses, ["200", "400"]);
  });
});

describe("two readings of one request", () => {
  const shapes: Record<string, () => string> = {
    "a length and chunks": () =>
      create("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nGET /x HTTP/1.1\r\n"),
    "chunks and a length": () => create("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n"),
    "two lengths": () => create("Content-Length: 38\r\nContent-Length: 39\r\n"),
    "the same length twice": () => create("Content-Length: 38\r\nContent-Length: 38\r\n"),
    "a list of lengths": () => create("Content-Length: 38, 38\r\n"),
    "a length with a sign": () => create("Content-Length: +38\r\n"),
    "a negative length": () => create("Content-Length: -1\r\n"),
    "a length in hexadecimal": () => create("Content-Length: 0x26\r\n"),
    "chunks in a folded header": () => create("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
    "another coding than chunks": () => create("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
    "chunks that are not last": () => create("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
    "chunks in two headers": () =>
      create("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
    "a space before the colon": () => create("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
    "a chunk size that is none": () => create("Transfer-Encoding: chunked\r\n", `zz\r\n${BODY}\r\n0\r\n\r\n`),
    "a chunk longer than its size": () =>
      create("Transfer-Encoding: chunked\r\n", `5\r\n${BODY}\r\n0\r\n\r\n`),
    "a chunk size beyond 64 bits": () => create("Transfer-Encoding: chunked\r\n", `${"f".repeat(17)}\r\n`),
    "a chunk extension without end": () =>
      create("Transfer-Encoding: chunked\r\n", `26;a=${"b".repeat(20_000)}\r\n${BODY}\r\n0\r\n\r\n`),
  };
  for (const [name, bytes] of Object.entries(shapes)) {
    it(`are neither taken: ${name}`, async () => {
      const before = await endpointCount();
      const received = await exchange(service.url, bytes(), 2);
      assertAnswer(received, 400, "Bad Request");
      assert.equal(received.split("HTTP/1.1 ").length, 2, "one answer, and the connection is closed");
      assert.equal(await endpointCount(), before);
    });
  }
});

describe("a request that is too large", () => {
  const large: Record<string, () => string> = {
    "a long header": () => `GET /health HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(17_000)}\r\n\r\n`,
    "many headers": () => `GET /health HTTP/1.1\r\nHost: x\r\n${"X: a\r\n".repeat(6_000)}\r\n`,
    "a long path": () => `GET /health?${"a".repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    "headers without end": () => `GET /health HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(1_000_000)}`,
    "long trailers": () => create("Transfer-Encoding: chunked\r\n", `0\r\nX: ${"a".repeat(20_000)}\r\n\r\n`),
  };
  for (const [name, bytes] of Object.entries(large)) {
    it(`gets 431: ${name}`, async () =>
      assertAnswer(await exchange(service.url, bytes()), 431, "Request Header Fields Too Large"));
  }

  it("gets 413 by its Content-Length alone, before the body is sent", async () => {
    const received = await exchange(service.url, create("Content-Length: 1048577\r\n", ""));
    assertAnswer(received, 413, "Payload too large");
  });
});

describe("a request that never ends", () => {
  const starts: Record<string, [() => string, string]> = {
    "a silent connection's first line": [() => "GET /health HT", ""],
    "headers one byte at a time": [() => "GET /health HTTP/1.1\r\nHost: x\r\nX: ", "a"],
    "headers one line at a time": [() => "GET /health HTTP/1.1\r\nHost: x\r\n", "X: a\r\n"],
    "a body one byte at a time": [() => create("Content-Length: 100000\r\n", ""), "a"],
    "a body in small chunks": [() => create("Transfer-Encoding: chunked\r\n", ""), "1\r\na\r\n"],
  };
  for (const [name, [start, drop]] of Object.entries(starts)) {
    it(`gets 408 and is cut off: ${name}`, async () => {
      assertAnswer(await exchangeSlowly(hasty.url, start(), drop), 408, "Request Timeout");
    });
  }

  it("ends, also when it is a body that goes on after its refusal", async () => {
    for (const [headers, drop] of [
      ["Content-Length: 100000\r\n", "a"],
      ["Transfer-Encoding: chunked\r\n", "1\r\na\r\n"],
    ] as const) {
      const start = `POST /api/webhooks HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
      assert.match(await exchangeSlowly(hasty.url, start, drop), /^HTTP\/1\.1 401 /);
    }
  });

  it("does not begin on a connection that was idle for too long: that is closed", async () => {
    const socket = open(hasty.url);
    socket.write(HEALTH);
    const [answer] = await once(socket.setEncoding("utf8"), "data");
    assert.match(answer, /^HTTP\/1\.1 200 /);
    await once(socket.resume(), "end");
  });

  it("leaves the neighbours be, a thousand of it", async () => {
    const slow = Array.from({ length: 1_000 }, () => open(hasty.url));
    await Promise.all(slow.map((socket) => once(socket, "connect")));
    for (const socket of slow) socket.resume().write("GET /health HTTP/1.1\r\nX: ");
    assert.equal((await hasty.call("GET", "/api/webhooks")).status, 200);
    await Promise.all(slow.filter((socket) => !socket.closed).map((socket) => once(socket, "close")));
    assert.equal((await hasty.call("GET", "/health", { as: null })).status, 200);
  });
});

describe("requests that do not wait for the answers before them", () => {
  it("are answered in their order, the first and eight behind it", async () => {
    const paths = Array.from({ length: 9 }, (_, place) => (place % 2 === 0 ? "/health" : "/nowhere"));
    const sent = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join("");
    const received = await exchange(service.url, sent, paths.length);
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    assert.deepEqual(
      statuses,
      paths.map((path) => (path === "/health" ? "200" : "404")),
    );
  });

  it("leave room for as many behind them once they are answered", async () => {
    const nine = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n".repeat(9);
    const socket = open(service.url);
    let received = "";
    let hasSentMore = false;
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("utf8");
      const isAnswered = received.split("HTTP/1.1 200").length > 9 && received.endsWith("}");
      if (!isAnswered || hasSentMore) return;
      hasSentMore = true;
      socket.write(nine);
    });
    socket.write(nine);
    await eventually(async () => received.split("HTTP/1.1 200").length === 19 || socket.destroyed);
    assert.equal(socket.destroyed, false);
    socket.destroy();
  });

  it("close the connection when there are more, and the rest is not looked at", async () => {
    const remove = `DELETE /api/webhooks/x HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`;
    await exchange(service.url, remove.repeat(100), 101);
    const { text } = await service.call("GET", "/metrics", { as: null });
    const [, removed = "0"] =
      /^http_server_request_duration_seconds_count\{[^}]*"DELETE"[^}]*\} (\d+)$/m.exec(text) ?? [];
    assert.ok(Number(removed) <= 9, `${removed} were looked at`);
  });
});

describe("an answer that nobody reads", () => {
  it("is thrown away with its connection once nothing of it has gone for a while", async () => {
    // More than the sockets' own buffers take.
    await service.database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
          request_body, request_headers, latency_ms)
        SELECT 'acme', postern.lowest_id_at(now()), postern.lowest_id_at(now()), gen_random_uuid(), 'invoice.paid', 'test',
          'test', 1, repeat('x', 15000000), '{}', 1`,
    );
    const { rows } = await service.database.pool.query("SELECT endpoint_id AS id FROM postern.deliveries");
    const { socket, served } = await connected();
    socket.pause();
    const path = `/api/webhooks/${rows[0]?.id}/deliveries`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`);
    await once(served, "close");
    let received = 0;
    socket.on("data", (bytes: Buffer) => (received += bytes.length));
    await once(socket.resume(), "close");
    assert.ok(received > 1_000 && received < 15_000_000, `${received} bytes`);
  });
});

/** A request whose body never comes: its connection is not idle. */
const HALF = () => create("Content-Length: 100\r\nExpect: 100-continue\r\n", "");
const LIST = () => `GET /api/webhooks HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`;

const end = (sockets: Socket[]) =>
  Promise.all(sockets.filter(({ closed }) => !closed).map((socket) => once(socket.destroy(), "close")));

/** An address of this machine that is not its loopback, so one with a bound of its own. */
const NETWORK = Object.values(networkInterfaces())
  .flatMap((found) => found ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;
/** Without a network, one of the loopback whose callers the service sees as coming from elsewhere. */
const OUTSIDE = NETWORK ?? "127.0.0.9";
const SEEN_AS = NETWORK ?? "198.51.100.9";

describe("more connections than are served at once", () => {
  let small: TestService;
  /** The same behind a proxy at `OUTSIDE`. */
  let proxied: TestService;
  before(async () => {
    if (NETWORK === undefined) seeAs(OUTSIDE, SEEN_AS);
    const httpLimits = { maxConnections: 4, maxConnectionsPerAddress: 3, reservedConnections: 1 };
    const env = { ...service.env, HOST: "0.0.0.0" };
    const options = { roles: ["api"], database: service.database, httpLimits } as const;
    small = await startTestService({ ...options, env });
    proxied = await startTestService({ ...options, env: { ...env, TRUSTED_PROXIES: `${SEEN_AS}/32` } });
  });
  after(async () => {
    await small.stop();
    await proxied.stop();
    mock.restoreAll();
  });

  const at = (address: string, { url } = small) => url.replace(/\/\/[^:]+/, `//${address}`);

  /** Connections, each with a request that has begun where there are bytes. */
  async function taken(count: number, address: string, bytes = "", by = small): Promise<Socket[]> {
    return Promise.all(
      Array.from({ length: count }, async () => {
        const socket = open(at(address, by)).resume();
        await once(socket, "connect");
        // Until it is asked for the body, its request has not begun.
        if (bytes !== "") {
          socket.write(bytes);
          await once(socket, "data");
        }
        return socket;
      }),
    );
  }

  it("take the place of idle ones, the oldest first", async () => {
    const idle = await taken(4, "127.0.0.1");
    const [oldest] = idle;
    assert.ok(oldest !== undefined);
    assert.match(
      await exchange(at("127.0.0.1"), LIST().replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")),
      /^HTTP\/1\.1 200 /,
    );
    await eventually(async () => oldest.destroyed);
    await end(idle);
  });

  it("of one address leave room for others, and cost their own idle ones first", async () => {
    const own = await taken(1, "127.0.0.1");
    const many = await taken(6, OUTSIDE);
    await eventually(async () => many.filter((socket) => socket.destroyed).length === 3);
    const more = await taken(2, "127.0.0.1");
    await eventually(async () => many.filter((socket) => socket.destroyed).length === 5);
    assert.ok([...own, ...more].every((socket) => !socket.destroyed));
    await end([...own, ...many, ...more]);

    const busy = await taken(3, OUTSIDE, HALF());
    assert.equal(await exchange(at(OUTSIDE), HEALTH), "");
    const { text } = await small.call("GET", "/metrics", { as: null });
    assert.match(text, /^http_server_connections_closed_total\{why="refused"\} 1$/m);
    await end(busy);
  });

  it("have no bound for a trusted proxy, nor for this machine itself", async () => {
    for (const address of [OUTSIDE, "127.0.0.1"]) {
      const busy = await taken(4, address, HALF(), proxied);
      // Beyond all that are served, not beyond a bound of its own: there it would be closed.
      assertAnswer(await exchange(at(address, proxied), LIST()), 503, "Service unavailable");
      assert.ok(busy.every((socket) => !socket.destroyed));
      await end(busy);
    }
    const { text } = await proxied.call("GET", "/metrics", { as: null });
    assert.doesNotMatch(text, /^http_server_connections_closed_total\{why="refused"\} [1-9]/m);
  });

  it("are closed when none is idle, but a few serve the operator's routes", async () => {
    // Of the last one a request is answered, and the one behind it is under way.
    const busy = [
      ...(await taken(3, "127.0.0.1", HALF())),
      ...(await taken(1, "127.0.0.1", LIST() + HALF())),
    ];
    const refused = await exchange(at("127.0.0.1"), LIST());
    assertAnswer(refused, 503, "Service unavailable");
    assert.match(refused, /^retry-after: 2\r$/im);
    assert.match(await exchange(at("127.0.0.1"), HEALTH), /^HTTP\/1\.1 200 [^]*connection: close/i);
    const idle = await taken(1, "127.0.0.1");
    assert.match(await exchange(at("127.0.0.1"), HEALTH), /^HTTP\/1\.1 200 /);
    await eventually(async () => idle.every((socket) => socket.destroyed));
    assert.ok(busy.every((socket) => !socket.destroyed));
    await end(busy);
    const metrics = await small.call("GET", "/metrics", { as: null });
    assert.match(metrics.text, /^http_server_connections_closed_total\{why="idle"\} [1-9]/m);
  });
});

/** Lets the service see connections to an address of this machine as coming from another. */
function seeAs(address: string, remote: string): void {
  mock.method(Server.prototype, "emit", function emit(this: Server, event: string, ...given: unknown[]) {
    const [socket] = given;
    if (event === "connection" && socket instanceof Socket && socket.localAddress === address) {
      Object.defineProperty(socket, "remoteAddress", { value: remote });
    }
    return EventEmitter.prototype.emit.call(this, event, ...given);
  });
}

/** A connection, and the service's end of it. */
async function connected(): Promise<{ socket: Socket; served: Socket }> {
  const accepted = Promise.withResolvers<Socket>();
  const onAccept = (message: unknown): void => {
    const { socket } = Object(message);
    if (socket instanceof Socket) accepted.resolve(socket);
  };
  subscribe("net.server.socket", onAccept);
  const socket = open(service.url);
  const served = await accepted.promise;
  unsubscribe("net.server.socket", onAccept);
  return { socket, served };
}
