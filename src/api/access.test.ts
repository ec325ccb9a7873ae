/** Who is let in to which route, what a refusal says, and whom the audit log names. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fastify, type FastifyRequest } from "fastify";
import { tenant } from "../../test/support/two-tenants.ts";
import { newPortalSessionId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import {
  callerOf,
  grantingOf,
  knownCallerOf,
  portalSessionOf,
  requireEither,
  requirePortalSession,
  requireService,
  requireTenant,
  requireUser,
  serviceOf,
  userOf,
} from "./access.ts";
import type { Permission, Session, SessionVerifier } from "./session.ts";

const ACME = tenant("acme");
const USER: Session = {
  type: "user",
  tenantId: ACME,
  allTenants: false,
  role: "owner",
  subject: "ada",
  permissions: new Set(["settings:read"]),
  portalId: null,
};
const SERVICE: Session = { ...USER, type: "service", role: null, permissions: new Set(["events:write"]) };
const OPERATOR: Session = { ...SERVICE, tenantId: null, allTenants: true };

type Config = { permission?: Permission; ownersOnly?: "owner_required" | "forbidden" };
type Check = (verifier: SessionVerifier) => (request: FastifyRequest) => Promise<void>;

/** What the route's handler sees behind the check, or the refusal with its reason. */
async function behind<Seen>(
  check: Check,
  {
    session,
    config = {},
    see,
  }: { session: Session; config?: Config; see: (request: FastifyRequest) => Seen },
): Promise<{ seen?: Seen; refused?: string; known?: unknown }> {
  const app = fastify({ genReqId: () => "request-1" });
  const outcome: { seen?: Seen; refused?: string; known?: unknown } = {};
  const onRequest = check({
    async verify(authorization) {
      assert.equal(authorization, "Bearer x");
      return session;
    },
  });
  app.get("/", { config, onRequest }, (request) => {
    outcome.seen = see(request);
    return {};
  });
  app.setErrorHandler((error, request) => {
    if (!(error instanceof Refusal)) throw error;
    outcome.refused = `${error.code}: ${error.reason}`;
    outcome.known = knownCallerOf(request);
    return {};
  });
  await app.inject({ url: "/", headers: { authorization: "Bearer x" } });
  return outcome;
}

const unchecked: Check = () => async () => undefined;
const nothing = () => true;
async function refusalOf(check: Check, session: Session, config: Config = {}): Promise<string | undefined> {
  return (await behind(check, { session, config, see: nothing })).refused;
}

describe("a route of a tenant's users", () => {
  it("is for tokens of type user with a tenant", async () => {
    const seen = await behind(requireUser, { session: USER, see: (request) => userOf(request) });
    assert.deepEqual(seen, { seen: USER });
    const wrongType = "unauthorized: a token of type user is needed here";
    assert.equal(await refusalOf(requireUser, SERVICE), wrongType);
    assert.equal(await refusalOf(requireUser, { ...USER, type: "other" }), wrongType);
    const noTenant = "unauthorized: the tid of the token is absent or no tenant id";
    assert.equal(await refusalOf(requireUser, { ...USER, tenantId: null }), noTenant);
  });

  it("needs its permission, and says where the token's role gives none", async () => {
    const config = { permission: "settings:write" } as const;
    const needed = "forbidden: the permission settings:write is needed";
    assert.equal(await refusalOf(requireUser, USER, config), needed);
    const none = { ...USER, permissions: new Set<string>() };
    assert.equal(await refusalOf(requireUser, none, config), needed);
    const noRole = { ...none, role: null };
    assert.equal(await refusalOf(requireUser, noRole, config), `${needed}: the token has no role`);
    const otherRole = `${needed}: the token's role is none of owner, admin and member`;
    assert.equal(await refusalOf(requireUser, { ...none, role: "guest" }, config), otherRole);
    const writer = { ...USER, permissions: new Set(["settings:write"]) };
    assert.equal(await refusalOf(requireUser, writer, config), undefined);
    assert.equal(await refusalOf(requireUser, none), undefined);
  });

  it("may be for owners alone", async () => {
    for (const ownersOnly of ["owner_required", "forbidden"] as const) {
      const refused = await refusalOf(requireUser, { ...USER, role: "admin" }, { ownersOnly });
      assert.equal(refused, `${ownersOnly}: the role owner is needed`);
      assert.equal(await refusalOf(requireUser, USER, { ownersOnly }), undefined);
    }
  });

  it("has a caller for the audit log, also where the permission is missing", async () => {
    const caller = {
      tenantId: ACME,
      actor: { type: "user", sub: "ada" },
      requestId: "request-1",
      address: "127.0.0.1",
    };
    assert.deepEqual(await behind(requireUser, { session: USER, see: callerOf }), { seen: caller });
    const config = { permission: "settings:write" } as const;
    assert.deepEqual((await behind(requireUser, { session: USER, config, see: callerOf })).known, caller);
    const stranger = { ...USER, tenantId: null };
    assert.equal((await behind(requireUser, { session: stranger, see: callerOf })).known, null);
  });
});

describe("a route of the operator's backend", () => {
  it("is for tokens of type service, of a tenant or of all", async () => {
    for (const session of [SERVICE, OPERATOR])
      assert.deepEqual(await behind(requireService, { session, see: serviceOf }), { seen: session });
    const wrongType = "unauthorized: a token of type service is needed here";
    assert.equal(await refusalOf(requireService, USER), wrongType);
    const noTenant = "unauthorized: the tid of the token is absent or no tenant id";
    assert.equal(await refusalOf(requireService, { ...SERVICE, tenantId: null }), noTenant);
  });

  it("needs its permission, and one of tenants a token of all tenants", async () => {
    const permissions = new Set(["tenants:read"]);
    const config = { permission: "tenants:read" } as const;
    assert.equal(await refusalOf(requireService, { ...OPERATOR, permissions }, config), undefined);
    assert.equal(
      await refusalOf(requireService, { ...SERVICE, permissions }, config),
      "forbidden: tid * is needed",
    );
    const needed = "forbidden: the permission tenants:read is needed";
    assert.equal(await refusalOf(requireService, OPERATOR, config), needed);
    const none = { ...SERVICE, permissions: new Set<string>() };
    assert.equal(await refusalOf(requireService, none, config), `${needed}: the token names no permissions`);
    assert.equal(await refusalOf(requireService, SERVICE, { permission: "events:write" }), undefined);
  });

  it("names the operator for a tenant's audit log, and for refusals the tenant of the token", async () => {
    const session = { ...OPERATOR, subject: "sam" };
    assert.deepEqual(await behind(requireService, { session, see: grantingOf }), {
      seen: { actor: { type: "operator", sub: "sam" }, requestId: "request-1", address: "127.0.0.1" },
    });
    const config = { permission: "portal:grant" } as const;
    const { known } = await behind(requireService, { session: SERVICE, config, see: nothing });
    const actor = { type: "unknown", sub: null };
    assert.deepEqual(known, { tenantId: ACME, actor, requestId: "request-1", address: "127.0.0.1" });
    assert.equal((await behind(requireService, { session: OPERATOR, config, see: nothing })).known, null);
  });
});

describe("a route of either", () => {
  it("is a service's where events are published, and else a user's", async () => {
    const publish = { permission: "events:write" } as const;
    const read = { permission: "settings:read" } as const;
    assert.equal(await refusalOf(requireEither, SERVICE, publish), undefined);
    assert.match((await refusalOf(requireEither, USER, publish)) ?? "", /type service/);
    assert.equal(await refusalOf(requireEither, USER, read), undefined);
    assert.match((await refusalOf(requireEither, SERVICE, read)) ?? "", /type user/);
  });

  it("takes both where it needs no permission, each by its own rules", async () => {
    assert.deepEqual(await behind(requireEither, { session: USER, see: userOf }), { seen: USER });
    assert.deepEqual(await behind(requireEither, { session: SERVICE, see: serviceOf }), { seen: SERVICE });
    const other = await refusalOf(requireEither, { ...USER, type: "other" });
    assert.equal(other, "unauthorized: a token of type user is needed here");
    assert.match((await refusalOf(requireEither, { ...SERVICE, tenantId: null })) ?? "", /the tid/);
  });
});

describe("a route of the portal's sessions", () => {
  it("is for tokens that Postern itself gave out", async () => {
    const id = newPortalSessionId();
    const session = { ...USER, portalId: id };
    const seen = { id, tenantId: ACME };
    assert.deepEqual(await behind(requirePortalSession, { session, see: portalSessionOf }), { seen });
    const refused = "unauthorized: the token is not of a session of the portal";
    assert.equal(await refusalOf(requirePortalSession, USER), refused);
  });
});

describe("a session of a backend", () => {
  it("is for its own tenant, or for all", () => {
    requireTenant(SERVICE, ACME);
    requireTenant(OPERATOR, ACME);
    const other = { name: "Refusal", code: "forbidden", reason: "the tenant is not the tid of the token" };
    assert.throws(() => requireTenant(SERVICE, tenant("globex")), other);
  });
});

describe("a route without its check", () => {
  it("has no session to go by", async () => {
    for (const find of [userOf, serviceOf, portalSessionOf]) {
      const see = (request: FastifyRequest) => assert.throws(() => find(request), /ran without its/);
      assert.deepEqual(await behind(unchecked, { session: USER, see }), { seen: undefined });
    }
  });
});
