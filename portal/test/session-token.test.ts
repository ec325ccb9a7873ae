/** A session's tokens as the page takes, renews and loses them, on a server that answers what each test says. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { after, afterEach, beforeEach, describe, it, type TestContext } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { loadModule } from "./support/page.ts";

type State = { kind: string; code?: string; token?: { token: string }; claims?: object };
type Session = {
  openSession: (code: string) => Promise<void>;
  sessionState: () => State;
  sessionRefused: (token: string) => void;
  startSession: () => void;
};
type Client = { api: { GET: (path: string) => Promise<object> } };

const MINUTE_MS = 60_000;
const NOW = Date.parse("2026-11-28T12:00:00Z");

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let renewals = 0;
const server = createServer((request, response) => {
  if (request.url?.endsWith("/renew") === true) renewals++;
  answer(request, response);
});
const baseUrl = `http://127.0.0.1:${await listen(server)}/portal/`;
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  renewals = 0;
});

// Here alone: with a window, the library of queries takes this process for a page, and its timers keep it.
Object.defineProperty(globalThis, "window", { value: new EventTarget() });
/** As a tab has one. */
const kept = new Map<string, string>();
Object.defineProperty(globalThis, "sessionStorage", {
  value: {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  },
});

const { openSession, sessionState, sessionRefused, startSession } = await loadModule<Session>(
  "session/session.ts",
  {
    baseUrl,
  },
);
const { api } = await loadModule<Client>("api/client.ts", { baseUrl });

// Its timer would keep this process.
afterEach(() => sessionRefused(sessionState().token?.token ?? ""));

type Given = { token: string; expiresAt?: number; endsAt?: number; session?: unknown; date?: string | null };

/** Answers with a token, by a clock that is right unless `date` says another time. */
function grant(response: ServerResponse, { token, date = null, session = null, ...times }: Given): void {
  const { expiresAt = Date.now() + 15 * MINUTE_MS, endsAt = Date.now() + 60 * MINUTE_MS } = times;
  response.sendDate = false;
  if (date !== null) response.setHeader("Date", date);
  response.writeHead(200).end(
    JSON.stringify({
      token,
      session,
      expires_at: new Date(expiresAt).toISOString(),
      ends_at: new Date(endsAt).toISOString(),
    }),
  );
}

async function open(given: Given): Promise<void> {
  answer = (_request, response) => grant(response, given);
  await openSession("a code");
}

const hasEnded = async () => sessionState().kind === "ended";
const isRenewed = (count: number) => async () => renewals === count;

function holdClock(test: TestContext) {
  test.mock.timers.enable({ apis: ["setTimeout", "Date"], now: NOW });
  return test.mock.timers;
}

describe("a code", () => {
  it("that is refused is no good, and one that nobody took may be tried again", async () => {
    for (const [status, kind] of [
      [400, "unopened"],
      [401, "unopened"],
      [404, "unreachable"],
      [429, "unreachable"],
      [500, "unreachable"],
      [503, "unreachable"],
    ] as const) {
      answer = (_request, response) => response.writeHead(status).end();
      await openSession("a code");
      assert.equal(sessionState().kind, kind, String(status));
      assert.equal(sessionState().code, kind === "unreachable" ? "a code" : undefined);
    }
  });

  it("that a process of before an upgrade took says nothing of the session", async () => {
    await open({ token: "old", session: {} });
    assert.equal(sessionState().kind, "unreachable");
  });
});

describe("a token", () => {
  it("says whose it is, in base64url and where it is none", async () => {
    const claims = { type: "service", jti: "~~~???", sub: "ops" };
    await open({ token: `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.x` });
    assert.deepEqual(sessionState().claims, { isOperator: true, id: "~~~???", sub: "ops" });
    await open({ token: "none" });
    assert.deepEqual(sessionState().claims, { isOperator: false, id: "", sub: "" });
  });

  it("that is refused ends its own session, and none that was opened since", async () => {
    await open({ token: "former" });
    const held = Promise.withResolvers<ServerResponse>();
    answer = (_request, response) => held.resolve(response);
    const call = assert.rejects(api.GET("/api/webhooks"), { kind: "session" });
    const response = await held.promise;
    await open({ token: "latter" });
    response.writeHead(401).end("{}");
    await call;
    assert.equal(sessionState().token?.token, "latter");
    answer = (_request, response) => response.writeHead(401).end("{}");
    await assert.rejects(api.GET("/api/webhooks"), { kind: "session" });
    assert.ok(await hasEnded());
  });
});

describe("a renewal", () => {
  it("comes two minutes before the token's end, and the next before that of the new one", async (test) => {
    const timers = holdClock(test);
    await open({ token: "first" });
    answer = (_request, response) => grant(response, { token: "second" });
    timers.tick(13 * MINUTE_MS - 1);
    assert.equal(renewals, 0);
    timers.tick(1);
    await eventually(async () => sessionState().token?.token === "second");
    timers.tick(13 * MINUTE_MS - 1);
    assert.equal(renewals, 1);
    timers.tick(1);
    await eventually(isRenewed(2));
  });

  it("goes by the clock of the service, or by one's own where an answer has no time", async (test) => {
    const timers = holdClock(test);
    const behind = NOW - 60 * MINUTE_MS;
    await open({
      token: "first",
      date: new Date(behind).toUTCString(),
      expiresAt: behind + 15 * MINUTE_MS,
      endsAt: behind + 15 * MINUTE_MS,
    });
    timers.tick(15 * MINUTE_MS - 1);
    assert.equal(sessionState().kind, "open");
    timers.tick(1);
    assert.ok(await hasEnded());
    await open({ token: "second", date: "soon", expiresAt: Date.now() + 15 * MINUTE_MS });
    assert.equal(sessionState().kind, "open");
  });

  it("is not asked for of the last token, which lasts as long as the session", async (test) => {
    const timers = holdClock(test);
    const endsAt = NOW + 5 * MINUTE_MS;
    await open({ token: "last", expiresAt: endsAt, endsAt });
    timers.tick(5 * MINUTE_MS - 1);
    assert.equal(sessionState().kind, "open");
    timers.tick(1);
    assert.ok(await hasEnded());
    assert.equal(renewals, 0);
  });

  it("that comes for a former session leaves the one that was opened since", async (test) => {
    const timers = holdClock(test);
    await open({ token: "first" });
    const held = Promise.withResolvers<ServerResponse>();
    answer = (_request, response) => held.resolve(response);
    timers.tick(13 * MINUTE_MS);
    const response = await held.promise;
    await open({ token: "other" });
    const answered = new Promise((resolve) => response.once("close", resolve));
    grant(response, { token: "second" });
    await answered;
    // A call of its own is answered after that.
    answer = (_request, response) => response.end("{}");
    await api.GET("/api/webhooks");
    assert.equal(sessionState().token?.token, "other");
  });
});

describe("a page that is loaded again", () => {
  const KEY = "postern.session";

  it("goes on with the token that was kept, until that has expired", async (test) => {
    const timers = holdClock(test);
    await open({ token: "kept" });
    const held = kept.get(KEY) ?? "";
    timers.tick(MINUTE_MS);
    startSession();
    assert.equal(sessionState().token?.token, "kept");
    sessionRefused("kept");
    kept.set(KEY, held);
    timers.setTime(NOW + 15 * MINUTE_MS);
    startSession();
    assert.ok(await hasEnded());
    assert.equal(kept.size, 0);
  });

  it("has no session where another's code was no good, nor after it ended", async () => {
    await open({ token: "former" });
    assert.equal(kept.size, 1);
    answer = (_request, response) => response.writeHead(401).end();
    await openSession("used");
    startSession();
    assert.equal(sessionState().kind, "absent");
    await open({ token: "latter" });
    sessionRefused("latter");
    startSession();
    assert.equal(sessionState().kind, "absent");
  });

  it("has none where what was kept is of before an upgrade, or is none", async () => {
    const whole = { token: "a", expiresAt: Date.now() + MINUTE_MS, endsAt: Date.now() + MINUTE_MS };
    for (const one of [
      whole,
      { ...whole, session: {} },
      { ...whole, endsAt: "soon", session: null },
      null,
      "a",
    ]) {
      kept.set(KEY, JSON.stringify(one));
      startSession();
      assert.equal(sessionState().kind, "absent", JSON.stringify(one));
    }
    kept.set(KEY, "{broken");
    startSession();
    assert.equal(sessionState().kind, "absent");
  });
});
