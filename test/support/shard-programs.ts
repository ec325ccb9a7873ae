/** Programs on several databases, for a test file: each test begins with shards of its own. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import type { Environment } from "../../src/config.ts";
import { createEndpoint, listDeliveries } from "./api.ts";
import { sharedSettings, startProgram, type Program } from "./program.ts";
import { request, type ApiAnswer, type Claims } from "./calls.ts";
import { eventually } from "./eventually.ts";
import { startLogicalServer } from "./logical-server.ts";
import { createShards, type TestShards } from "./shards.ts";
import { startReceiver, type TlsReceiver } from "./tls-receiver.ts";

export const owner = (tid: string): Claims => ({ type: "user", tid, sub: "ada", role: "owner" });
export const producer = (tid: string): Claims => ({
  type: "service",
  tid,
  sub: "app",
  permissions: ["events:write"],
});
export const BACKEND: Claims = {
  type: "service",
  tid: "*",
  sub: "app",
  permissions: ["events:write", "tenants:read", "tenants:act", "tenants:erase", "portal:grant"],
};

export const published = z.array(z.object({ id: z.string(), deliveries: z.number().nullable() }));

export type ShardTests = Awaited<ReturnType<typeof prepareShardTests>>;

/** Once for a file; `end` behind each test, `close` behind the last. */
export async function prepareShardTests({ movesTenants = false } = {}) {
  const server = movesTenants ? await startLogicalServer() : null;
  let fails = false;
  let held: Promise<unknown> | null = null;
  const receiver: TlsReceiver = await startReceiver({
    async respond() {
      await held;
      return { status: fails ? 500 : 200 };
    },
  });
  const { DATABASE_URL: _, ...settings } = await sharedSettings("", receiver.caPem);
  let shards: TestShards | null = null;
  let programs: Program[] = [];
  let env: Environment = settings;

  function current(): TestShards {
    assert.ok(shards !== null, "begin comes first");
    return shards;
  }

  async function start(
    role: "api" | "worker" | "up" | readonly string[] = "up",
    change: (env: Environment) => Environment = (same) => same,
  ): Promise<Program> {
    env = change(env);
    const program = await startProgram(typeof role === "string" ? [role] : role, env);
    programs.push(program);
    return program;
  }

  async function rows(shard: string, sql: string, values: unknown[] = []) {
    return (await current().database(shard).pool.query<Record<string, unknown>>(sql, values)).rows;
  }

  return {
    receiver,
    start,
    /** Of a shard's database. */
    rows,
    shards: current,
    /** The settings that programs start with. */
    settings: () => env,
    receiverFails(isSo: boolean) {
      fails = isSo;
    },
    /** It answers nothing until what is answered was called. */
    holdReceiver(): () => void {
      const letGo = Promise.withResolvers<void>();
      held = letGo.promise;
      return letGo.resolve;
    },
    /** New databases, with nothing started on them. */
    async prepare({
      names = ["eu1", "eu2"],
      ...options
    }: { names?: string[]; migrated?: boolean } = {}): Promise<void> {
      shards = await createShards(names, options);
      // The folder of artifacts has the mark of its database.
      const DATA_DIR = join(settings["DATA_DIR"] ?? "", randomUUID());
      env = { ...settings, DATA_DIR, SHARDS: shards.setting };
    },
    async begin(names?: string[]): Promise<Program> {
      await this.prepare(names === undefined ? {} : { names });
      return start();
    },
    /** An endpoint of a tenant in each. */
    async twoEndpoints(program: Program) {
      const make = async (shard: string) => {
        const tid = current().newTenant(shard);
        const url = `${receiver.url}/${tid}`;
        return { tid, id: (await createEndpoint(program, { url }, { as: owner(tid) })).endpoint.id };
      };
      return { one: await make("eu1"), other: await make("eu2") };
    },
    sentTo: (tid: string) => receiver.requests.filter(({ path }) => path.endsWith(`/${tid}`)).length,
    async end(): Promise<void> {
      fails = false;
      held = null;
      await Promise.all(programs.map((program) => program.end("SIGKILL")));
      programs = [];
      await shards?.drop();
      shards = null;
    },
    async close(): Promise<void> {
      await receiver.close();
      await server?.stop();
    },
  };
}

/** Waits until the endpoint's log has so many deliveries, and answers them. */
export async function delivered(program: Program, { tid, id }: { tid: string; id: string }, count = 1) {
  return eventually(async () => {
    const found = await listDeliveries(program, id, "?status=delivered", { as: owner(tid) });
    return found.length === count && found;
  });
}

/** One event for each of these tenants, in one request. */
export async function publishArray(program: Program, tids: readonly string[]) {
  const json = tids.map((tid, n) => ({ type: "invoice.paid", data: { n }, tenant_id: tid }));
  return published.parse((await ok(program.call("POST", "/api/events", { as: BACKEND, json }), 202)).body);
}

export async function ok(answering: Promise<ApiAnswer>, status: number): Promise<ApiAnswer> {
  const answer = await answering;
  assert.equal(answer.status, status, answer.text);
  return answer;
}

/** A code of the portal for a user of the tenant. */
export async function newPortalCode(program: Program, tid: string): Promise<string> {
  const json = { tenant_id: tid, sub: "ada", role: "owner" };
  const { body } = await ok(program.call("POST", "/api/portal/codes", { as: BACKEND, json }), 201);
  return z.object({ url: z.string() }).parse(body).url.split("#code=")[1] ?? "";
}

export function openPortal(program: Program, code: string): Promise<ApiAnswer> {
  return program.call("POST", "/api/portal/sessions", { as: null, json: { code } });
}

/** Reads an endpoint in the opened session, renews the session and ends it. */
export async function usePortal(program: Program, opened: ApiAnswer, endpointId: string): Promise<void> {
  assert.equal(opened.status, 201, opened.text);
  const { token } = z.object({ token: z.string() }).parse(opened.body);
  const call = (method: string, path: string) => request(`${program.url}${path}`, method, { token });
  await ok(call("GET", `/api/webhooks/${endpointId}`), 200);
  await ok(call("POST", "/api/portal/sessions/renew"), 200);
  await ok(call("DELETE", "/api/portal/sessions"), 200);
  await ok(call("GET", `/api/webhooks/${endpointId}`), 401);
}

/** What moves leave in a database until they end. */
export async function leftoversOf(tests: Pick<ShardTests, "rows">, shard: string): Promise<number[]> {
  const [row] = await tests.rows(
    shard,
    `SELECT (SELECT count(*) FROM pg_publication) AS publications,
      (SELECT count(*) FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()))
        AS subscriptions,
      (SELECT count(*) FROM pg_replication_slots WHERE database = current_database()) AS slots`,
  );
  return Object.values(row ?? {}).map(Number);
}
