import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { fastify } from "fastify";
import { tenant } from "../../test/support/two-tenants.ts";
import { requireUser } from "./access.ts";
import { answerError } from "./error-answers.ts";
import { HTTP_LIMITS, type HttpLimits } from "./http-limits.ts";
import { makeLogTurns } from "./log-turns.ts";

/** An API for one user, with a turn for one answer at a time. */
function makeApp(limits: Partial<HttpLimits>) {
  const app = fastify();
  const session = {
    type: "user" as const,
    tenantId: tenant("acme"),
    allTenants: false,
    role: "owner",
    subject: null,
    permissions: new Set<string>(),
    portalId: null,
  };
  app.addHook("onRequest", requireUser({ verify: () => Promise.resolve(session) }));
  app.setErrorHandler(answerError);
  return { app, preHandler: makeLogTurns({ ...HTTP_LIMITS, maxLogAnswers: 1, ...limits }) };
}

it("a caller who is gone before its turn is asked for takes none", async () => {
  // Its other caller would wait for longer than the test.
  const { app, preHandler } = makeApp({});
  const gone = Promise.withResolvers<undefined>();
  app.addHook("onRequest", async (request, reply) => {
    if (request.url !== "/gone") return;
    reply.raw.destroy();
    await once(reply.raw, "close");
    gone.resolve(undefined);
  });
  for (const url of ["/gone", "/next"]) app.get(url, { preHandler }, () => ({ ok: true }));
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  try {
    await assert.rejects(fetch(`${base}/gone`));
    await gone.promise;
    const answer = await fetch(`${base}/next`, { signal: AbortSignal.timeout(5_000) });
    assert.equal(answer.status, 200);
  } finally {
    await app.close();
  }
});

it("a caller whose turn does not come is told to come again, and keeps no place", async () => {
  const { app, preHandler } = makeApp({ logTurnTimeoutMs: 20 });
  const { promise: end, resolve: goOn } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const closed: Promise<unknown>[] = [];
  app.addHook("onRequest", async (_request, { raw }) => void closed.push(once(raw, "close")));
  app.get("/held", { preHandler }, async () => {
    begun.resolve();
    await end;
    return { ok: true };
  });
  app.get("/next", { preHandler }, () => ({ ok: true }));
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  try {
    const held = fetch(`${base}/held`);
    await begun.promise;
    const refused = await fetch(`${base}/next`);
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
    await closed[1];
    // The one that was refused has given back no place but its own.
    assert.equal((await fetch(`${base}/next`)).status, 429);
    goOn();
    assert.equal((await held).status, 200);
    const statuses = [(await fetch(`${base}/next`)).status, (await fetch(`${base}/next`)).status];
    assert.deepEqual(statuses, [200, 200]);
  } finally {
    goOn();
    await app.close();
  }
});

it("a caller who goes while it waits gives back no place but its own, also once its time is over", async (test) => {
  const { app, preHandler } = makeApp({ logTurnTimeoutMs: 60_000 });
  const { promise: end, resolve: goOn } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  app.addHook("preHandler", async ({ url }, { raw }) => {
    if (url !== "/left") return;
    raw.once("close", () => closed.resolve());
    waiting.resolve();
  });
  app.get("/held", { preHandler }, async () => {
    begun.resolve();
    await end;
    return { ok: true };
  });
  for (const url of ["/left", "/next"]) app.get(url, { preHandler }, () => ({ ok: true }));
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  test.mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const held = fetch(`${base}/held`);
    await begun.promise;
    const leaving = new AbortController();
    const left = fetch(`${base}/left`, { signal: leaving.signal });
    await waiting.promise;
    leaving.abort();
    await assert.rejects(left);
    await closed.promise;
    const answers: number[] = [];
    const next = fetch(`${base}/next`).then(({ status }) => answers.push(status));
    while (answers.length === 0) {
      test.mock.timers.tick(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await next;
    assert.deepEqual(answers, [429]);
    goOn();
    assert.equal((await held).status, 200);
  } finally {
    goOn();
    test.mock.timers.reset();
    await app.close();
  }
});
