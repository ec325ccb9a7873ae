/** What a server with limits does with what comes, byte by byte; test/inbound-limits.test.ts shows it of the program. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import { exchange, open } from "../../test/support/raw-http.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { answerClientError, watchExchanges } from "./client-errors.ts";
import {
  HTTP_LIMITS,
  makeHttpServer,
  namesOneHost,
  refuseExpectations,
  type HttpLimits,
} from "./http-limits.ts";

let server: Server;
let url: string;
/** Requests that were handled, with the responses of those under `/held`, which the test ends. */
let handled: string[];
let held: Map<string, ServerResponse>;

async function serve(limits: Partial<HttpLimits> = {}): Promise<void> {
  server = makeHttpServer(
    { ...HTTP_LIMITS, ...limits },
    {
      handle(request, response) {
        handled.push(request.url ?? "");
        if (request.url?.startsWith("/held") === true) held.set(request.url, response);
        else response.end(JSON.stringify({ hosts: namesOneHost(request) }));
      },
      trustedProxies: [],
      isOperational: (path) => path === "/health",
      closed: () => undefined,
    },
  );
  watchExchanges(server);
  refuseExpectations(server);
  server.on("clientError", answerClientError);
  url = `http://127.0.0.1:${await listen(server)}`;
}

beforeEach(() => {
  [handled, held] = [[], new Map()];
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const request = (path: string, headers = "", version = "1.1"): string =>
  `GET ${path} HTTP/${version}\r\n${headers}\r\n`;
/** So many, of which none is answered by itself. */
function ask(count: number): string {
  return Array.from({ length: count }, (_, at) => request(`/held/${at}`, HOST)).join("");
}

const HOST = "Host: x\r\n";
const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** That it is a whole answer that refuses, and ends the connection. */
function assertRefusal(
  answer: string,
  status: string,
  error: string,
  more: Record<string, string> = {},
): void {
  const [head = "", body] = answer.split("\r\n\r\n");
  const [first, ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(lines.map((line) => line.split(": ")));
  const { "X-Request-Id": id, Date: _date, ...rest } = headers;
  assert.deepEqual([first, body], [`HTTP/1.1 ${status}`, JSON.stringify({ error })]);
  assert.match(id, ID);
  assert.deepEqual(rest, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(body?.length),
    Connection: "close",
    ...more,
  });
}

describe("bytes that are no request", { timeout: 20_000 }, () => {
  it("are answered as what they are, and end the connection", async () => {
    await serve({ maxHeaderBytes: 2000 });
    assertRefusal(await exchange(url, "nonsense\r\n\r\n"), "400 Bad Request", "Bad Request");
    const long = request("/", `${HOST}X: ${"x".repeat(3000)}\r\n`);
    const tooLarge = "Request Header Fields Too Large";
    assertRefusal(await exchange(url, long), `431 ${tooLarge}`, tooLarge);
    assert.deepEqual(handled, []);
  });

  it("are answered 408 where they come too slowly", async () => {
    await serve({ headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20 });
    assertRefusal(await exchange(url, "GET / HTTP/1.1\r\n"), "408 Request Timeout", "Request Timeout");
  });

  it("leave a request before them its own answer, and get theirs behind it", async () => {
    await serve();
    const answered = exchange(url, `${request("/held", HOST)}nonsense\r\n\r\n`, 2);
    while (!held.has("/held")) await new Promise(setImmediate);
    held.get("/held")?.end("{}");
    const [first = "", second = ""] = (await answered).split(/(?=HTTP\/1\.1 )/);
    assert.match(first, /^HTTP\/1\.1 200 OK\r\n[^]*\{\}/);
    assertRefusal(second, "400 Bad Request", "Bad Request");
  });

  it("are not answered twice, nor after a client that hung up", () => {
    const written: string[] = [];
    const makeSocket = () =>
      new Duplex({
        read: () => undefined,
        write(chunk, _encoding, done) {
          written.push(String(chunk));
          done();
        },
      }).on("error", () => undefined);
    const socket = makeSocket();
    answerClientError(Object.assign(new Error("reset"), { code: "ECONNRESET" }), socket);
    assert.deepEqual([written, socket.destroyed], [[], false]);
    for (let again = 0; again < 2; again++) answerClientError(new Error("parse"), socket);
    assert.deepEqual([written.length, socket.destroyed], [1, true]);
    const half = makeSocket().end();
    answerClientError(new Error("parse"), half);
    assert.deepEqual([written.length, half.destroyed], [1, true]);
  });
});

describe("a request", { timeout: 20_000 }, () => {
  it("names one host, of which HTTP/1.0 may do without", async () => {
    await serve();
    for (const [headers, version, isNamed] of [
      [HOST, "1.1", true],
      ["hOsT: x\r\n", "1.1", true],
      ["", "1.1", false],
      [`${HOST}Host: y\r\n`, "1.1", false],
      ["X: host\r\n", "1.1", false],
      ["", "1.0", true],
      [HOST, "1.0", true],
      [`${HOST}${HOST}`, "1.0", false],
    ] as const) {
      const answer = await exchange(url, request("/", headers, version));
      assert.match(answer, new RegExp(`\\{"hosts":${isNamed}\\}$`), `${version} ${headers}`);
    }
  });

  it("that expects what is not 100-continue is refused", async () => {
    await serve();
    const answer = await exchange(url, request("/", `${HOST}Expect: more\r\n`));
    assertRefusal(answer, "417 Expectation Failed", "Expectation Failed");
    assert.deepEqual(handled, []);
  });

  it("is the operator's alone on a connection beyond all that are served", async () => {
    await serve({ maxConnections: 1, reservedConnections: 1 });
    const busy = open(url);
    busy.write(request("/held", HOST));
    while (!held.has("/held")) await new Promise(setImmediate);
    const refused = await exchange(url, request("/", HOST));
    assertRefusal(refused, "503 Service Unavailable", "Service unavailable", { "Retry-After": "2" });
    const health = await exchange(url, request("/health", HOST));
    assert.match(health, /^HTTP\/1\.1 200 OK\r\nConnection: close\r\n/);
    assert.deepEqual(handled, ["/held", "/health"]);
    busy.destroy();
  });

  it("may wait behind another with seven more, and one more ends the connection", async () => {
    await serve();
    const patient = open(url);
    patient.write(ask(9));
    while (held.size < 9) await new Promise(setImmediate);
    for (const response of held.values()) response.end("{}");
    let received = "";
    patient.on("data", (bytes: Buffer) => (received += bytes.toString()));
    while (received.split("HTTP/1.1 200").length < 10) await once(patient, "data");
    // Once these are answered, as many may come again.
    held.clear();
    patient.write(ask(9));
    while (held.size < 9) await new Promise(setImmediate);
    patient.destroy();
    held.clear();
    const greedy: Socket = open(url);
    greedy.write(ask(11));
    await once(greedy, "close");
    assert.ok(!held.has("/held/9") && !held.has("/held/10"), "it was not looked at");
  });
});

it("each limit in time is the server's own", async () => {
  await serve({ headersTimeoutMs: 11, requestTimeoutMs: 22, keepAliveTimeoutMs: 33, stallTimeoutMs: 44 });
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = server;
  assert.deepEqual([headersTimeout, requestTimeout, keepAliveTimeout, timeout], [11, 22, 33, 44]);
});

it("a stream of the log says every 15 seconds that it is there, and ends after ten minutes", () => {
  assert.deepEqual([HTTP_LIMITS.streamPingMs, HTTP_LIMITS.streamLifeMs], [15_000, 600_000]);
});

it("the limits are long enough for each other", () => {
  const { headersTimeoutMs, requestTimeoutMs, stallTimeoutMs, streamPingMs, logTurnTimeoutMs } = HTTP_LIMITS;
  assert.ok(headersTimeoutMs < requestTimeoutMs && requestTimeoutMs < stallTimeoutMs);
  assert.ok(2 * streamPingMs < stallTimeoutMs && logTurnTimeoutMs < stallTimeoutMs);
  assert.ok(HTTP_LIMITS.maxConnectionsPerAddress * 2 <= HTTP_LIMITS.maxConnections);
});
