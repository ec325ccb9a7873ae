import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { fastify } from "fastify";
import { tenant } from "../../test/support/two-tenants.ts";
import { requireUser } from "./access.ts";
import { HTTP_LIMITS } from "./http-limits.ts";
import { makeLogTurns } from "./log-turns.ts";

it("a caller who is gone before its turn is asked for takes none", async () => {
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
  const gone = Promise.withResolvers<undefined>();
  app.addHook("onRequest", async (request, reply) => {
    if (request.url !== "/gone") return;
    reply.raw.destroy();
    await once(reply.raw, "close");
    gone.resolve(undefined);
  });
  // Its other caller would wait for longer than the test.
  const logTurn = makeLogTurns({ ...HTTP_LIMITS, maxLogAnswers: 1 });
  for (const url of ["/gone", "/next"]) app.get(url, { preHandler: logTurn }, () => ({ ok: true }));
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
