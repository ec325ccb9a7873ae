import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { fastify } from "fastify";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newEndpointId } from "../../shared/id.ts";
import { requireUser } from "../access.ts";
import type { ApiServices } from "../services.ts";
import type { Session } from "../session.ts";
import { pullRoutes } from "./pull.ts";

const session: Session = {
  type: "user",
  tenantId: tenant("acme"),
  allTenants: false,
  role: "owner",
  subject: null,
  permissions: new Set(["settings:write"]),
  portalId: null,
};

/** The routes, where each fetch tells whose signal it got, and ends once its client has gone. */
function makeApp() {
  const asked = Promise.withResolvers<AbortSignal>();
  const fetches: ApiServices["fetches"] = {
    async lease(_tenant, _endpoint, { signal }) {
      asked.resolve(signal);
      if (!signal.aborted) await once(signal, "abort");
      return null;
    },
    acknowledge: () => Promise.reject(new Error("nothing is acknowledged here")),
    close: () => undefined,
  };
  const app = fastify();
  app.addHook("onRequest", requireUser({ verify: () => Promise.resolve(session) }));
  pullRoutes(app, { fetches });
  return { app, asked: asked.promise };
}

const fetchOf = (base: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${base}/${newEndpointId()}/leases`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"wait_s":30}',
    ...(signal && { signal }),
  });

describe("a fetch whose client has gone", { timeout: 20_000 }, () => {
  it("while its session was verified is known to have no client any more", async () => {
    const { app, asked } = makeApp();
    app.addHook("preHandler", async (_request, reply) => {
      reply.raw.destroy();
      await once(reply.raw, "close");
    });
    try {
      await assert.rejects(fetchOf(await app.listen({ host: "127.0.0.1", port: 0 })));
      assert.equal((await asked).aborted, true);
    } finally {
      await app.close();
    }
  });

  it("while it waits ends", async () => {
    const { app, asked } = makeApp();
    const client = new AbortController();
    try {
      const answer = fetchOf(await app.listen({ host: "127.0.0.1", port: 0 }), client.signal);
      const signal = await asked;
      assert.equal(signal.aborted, false);
      client.abort();
      await assert.rejects(answer);
      if (!signal.aborted) await once(signal, "abort");
    } finally {
      await app.close();
    }
  });
});
