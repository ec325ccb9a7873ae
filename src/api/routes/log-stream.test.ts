import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { describe, it } from "node:test";
import { fastify, type FastifyBaseLogger } from "fastify";
import { isForgotten } from "../../../test/support/forgotten.ts";
import { makeKeptLog } from "../../../test/support/kept-log.ts";
import { logged } from "../../../test/support/store-inputs.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { eventually } from "../../../test/support/eventually.ts";
import type { TailSink } from "../../deliveries/tail.ts";
import { newEndpointId, newEventId } from "../../shared/id.ts";
import { Refusal } from "../../shared/refusal.ts";
import { requireUser } from "../access.ts";
import { answerError } from "../error-answers.ts";
import type { Session } from "../session.ts";
import { logStreamRoute } from "./log-stream.ts";

const PING_MS = 20;
const MANY = 40;

const session: Session = {
  type: "user",
  tenantId: tenant("acme"),
  allTenants: false,
  role: "member",
  subject: "max",
  permissions: new Set(["settings:read"]),
  portalId: null,
};
const rows = { tenantId: tenant("acme"), endpointId: newEndpointId(), eventId: newEventId() };
const large = { ...logged(rows), error: "x".repeat(1024 * 1024), nextAttemptAt: null, replayId: null };

describe("a stream of the log that has ended, to a client who has not read it all", () => {
  it("is sent nothing more, neither rows nor pings, and ends whole", async () => {
    const kept = makeKeptLog();
    let sink: TailSink | undefined;
    let verified = 0;
    const sessions = {
      async verify() {
        verified++;
        return session;
      },
    };
    const logTail = {
      async watch(_tenant: unknown, _filter: unknown, given: TailSink) {
        sink = given;
        return () => undefined;
      },
      close: async () => undefined,
    };
    const loggerInstance: FastifyBaseLogger = kept.log;
    const app = fastify({ loggerInstance });
    app.addHook("onRequest", requireUser(sessions));
    logStreamRoute(app, { logTail, sessions }, { streamPingMs: PING_MS, streamLifeMs: 60_000 });
    try {
      const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
      get(`${await app.listen({ port: 0 })}/stream`, resolve);
      const answer = await promise;
      answer.pause();
      await eventually(async () => sink !== undefined);
      // More than sockets take in by themselves.
      for (let sent = 0; sent < MANY; sent++) sink?.send([large]);
      sink?.end();
      // Each ping verifies the session.
      const before = verified;
      await eventually(async () => verified > before + 2);
      assert.equal(sink?.hasRoom(), false);
      let text = "";
      for await (const part of answer) text += String(part).slice(-2);
      assert.ok(text.endsWith("\n\n"));
      assert.deepEqual(
        kept.lines.filter(({ level }) => level !== 30),
        [],
      );
    } finally {
      await app.close();
    }
  });
});

it("a stream that has to leave its place before it has begun is an empty one", async () => {
  const kept = makeKeptLog();
  const sessions = { verify: async () => session };
  const ended = Promise.withResolvers<void>();
  const logTail = {
    async watch(_tenant: unknown, _filter: unknown, sink: TailSink) {
      sink.end();
      return ended.resolve;
    },
    close: async () => undefined,
  };
  const loggerInstance: FastifyBaseLogger = kept.log;
  const app = fastify({ loggerInstance });
  app.addHook("onRequest", requireUser(sessions));
  logStreamRoute(app, { logTail, sessions }, { streamPingMs: 60_000, streamLifeMs: 60_000 });
  try {
    const answer = await fetch(`${await app.listen({ port: 0 })}/stream`);
    assert.deepEqual([answer.status, await answer.text()], [200, ": watching\n\n"]);
    await ended.promise;
    assert.deepEqual(
      kept.lines.filter(({ level }) => level !== 30),
      [],
    );
  } finally {
    await app.close();
  }
});

it("a stream whose client has gone is kept nowhere", async () => {
  const sessions = { verify: async () => session };
  let ended = 0;
  const logTail = { watch: async () => () => void ended++, close: async () => undefined };
  const app = fastify();
  let kept: object | null = null;
  app.addHook("onRequest", requireUser(sessions));
  // What the stream holds is there for as long as the stream is.
  app.addHook("onSend", async (_request, _reply, stream) => void Object.assign(stream ?? {}, { kept }));
  logStreamRoute(app, { logTail, sessions }, { streamPingMs: 60_000, streamLifeMs: 60_000 });
  try {
    const url = `${await app.listen({ port: 0 })}/stream`;
    const isGone = await isForgotten(async (object) => {
      kept = object;
      const leaving = new AbortController();
      const answer = await fetch(url, { signal: leaving.signal });
      assert.equal(answer.status, 200);
      leaving.abort();
      await eventually(async () => ended === 1);
      kept = null;
    });
    assert.equal(isGone, true);
  } finally {
    await app.close();
  }
});

it("a stream that gets no place is ended, and kept for no stop of the process", async () => {
  const sessions = { verify: async () => session };
  const sinks: TailSink[] = [];
  const logTail = {
    async watch(_tenant: unknown, _filter: unknown, sink: TailSink): Promise<never> {
      sinks.push(sink);
      throw new Refusal("too_many_requests", { retryAfterS: 5 });
    },
    close: async () => undefined,
  };
  const app = fastify();
  app.addHook("onRequest", requireUser(sessions));
  app.setErrorHandler(answerError);
  logStreamRoute(app, { logTail, sessions }, { streamPingMs: 60_000, streamLifeMs: 60_000 });
  try {
    assert.equal((await fetch(`${await app.listen({ port: 0 })}/stream`)).status, 429);
    assert.deepEqual(
      sinks.map((sink) => sink.hasRoom()),
      [false],
    );
  } finally {
    await app.close();
  }
});

it("a stream whose session is still verified as the process stops is an empty one", async () => {
  const verifying = Promise.withResolvers<Session>();
  let isAsked = false;
  let isClosed = false;
  const sessions = {
    verify() {
      isAsked = true;
      return verifying.promise;
    },
  };
  const logTail = {
    watch: async () => () => undefined,
    async close() {
      isClosed = true;
    },
  };
  const app = fastify();
  app.addHook("onRequest", requireUser(sessions));
  logStreamRoute(app, { logTail, sessions }, { streamPingMs: 60_000, streamLifeMs: 60_000 });
  const { promise: answered, resolve } = Promise.withResolvers<IncomingMessage>();
  // Its connection is for this one request: what becomes of others' is not this route's.
  get(`${await app.listen({ port: 0 })}/stream`, { agent: false }, resolve);
  await eventually(async () => isAsked);
  const closing = app.close();
  await eventually(async () => isClosed);
  verifying.resolve(session);
  assert.equal(await textOf(await answered), ": watching\n\n");
  await closing;
});

it("a stream goes on while nobody can say whether its token is good, and ends once it is not", async () => {
  const away = new Refusal("unavailable", { retryAfterS: 5 });
  const outcomes: (Session | Refusal)[] = [session, away, away, new Refusal("unauthorized")];
  const sessions = {
    async verify() {
      const outcome = outcomes.shift() ?? new Error("it is verified behind its end");
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
  const logTail = { watch: async () => () => undefined, close: async () => undefined };
  const app = fastify();
  app.addHook("onRequest", requireUser(sessions));
  logStreamRoute(app, { logTail, sessions }, { streamPingMs: PING_MS, streamLifeMs: 60_000 });
  try {
    const answer = await fetch(`${await app.listen({ port: 0 })}/stream`);
    assert.equal(await answer.text(), `: watching\n\n${": ping\n\n".repeat(3)}`);
  } finally {
    await app.close();
  }
});
