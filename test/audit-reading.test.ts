/** Reading the audit log: over HTTP for a tenant's owners, at the command line for the operator. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it, mock } from "node:test";
import * as z from "zod";
import { auditObject } from "../src/api/schemas.ts";
import { auditAnswer, newTenant } from "./support/audit.ts";
import { runHere } from "./support/command.ts";
import { mutationSettings } from "./support/mutation.ts";
import { MAIN, runProgram } from "./support/program.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, first, issuesOf, REFUSED } from "./support/webhooks.ts";

let service: TestService;

before(async () => {
  service = await startTestService();
});
after(() => service.stop());

describe("GET /api/audit", () => {
  it("is for owners alone", async () => {
    const { read, owner } = newTenant(service);
    assertRefused(await read("", { as: null }), REFUSED.unauthorized);
    const producer = { type: "service", tid: "acme", permissions: ["settings:read"] };
    assertRefused(await read("", { as: producer }), REFUSED.unauthorized);
    for (const role of ["admin", "member", "Owner"]) {
      assertRefused(await read("", { as: { ...owner, role } }), REFUSED.forbidden);
    }
    assertRefused(await read("", { as: { ...owner, permissions: [] } }), REFUSED.forbidden);
    assert.equal((await read("", { as: { ...owner, role: "OWNER" } })).status, 200);
    assertRefused(await read("/nothing"), REFUSED.notFound);
    const post = await service.call("POST", "/api/audit", { as: owner });
    assertRefused(post, REFUSED.methodNotAllowed);
    assert.equal(post.headers.get("allow"), "GET, HEAD");
  });

  it("shows a tenant nothing of another", async () => {
    const [one, other] = [newTenant(service), newTenant(service)];
    const { endpoint } = await one.webhooks.create();
    assert.equal((await one.entries()).length, 1);
    assert.deepEqual(await other.entries(), []);
    assert.deepEqual(await other.entries(`?endpoint_id=${endpoint.id}`), []);
  });

  it("narrows by action, endpoint and time", async () => {
    const { entries, webhooks } = newTenant(service);
    const { endpoint } = await webhooks.create();
    await webhooks.create();
    await webhooks.remove(endpoint.id);
    assert.equal((await entries("?action=endpoint.created")).length, 2);
    const ofOne = await entries(`?endpoint_id=${endpoint.id}`);
    assert.deepEqual(
      ofOne.map(({ action }) => action),
      ["endpoint.deleted", "endpoint.created"],
    );
    assert.deepEqual(await entries("?endpoint_id=nobody"), []);
    assert.deepEqual(await entries(`?endpoint_id=${endpoint.id}&action=secret.rotated`), []);
    const [last, , oldest] = await entries();
    assert.ok(last !== undefined && oldest !== undefined);
    assert.ok((await entries(`?from=${last.at}`)).some(({ id }) => id === last.id));
    assert.ok((await entries(`?to=${last.at}`)).every(({ id }) => id !== last.id));
    assert.ok((await entries(`?from=${oldest.at}`)).some(({ id }) => id === oldest.id));
    assert.deepEqual(await entries(`?to=${oldest.at}`), []);
  });

  it("refuses a query that it does not understand", async () => {
    const { read } = newTenant(service);
    for (const query of ["action=nothing", "from=today", "limit=0", "limit=101", "before=x"]) {
      const paths = Object.keys(issuesOf(await read(`?${query}`), "Invalid query"));
      assert.deepEqual(paths, [query.split("=")[0]]);
    }
  });

  it("leads from page to page, each entry once, newest first", async () => {
    const { read, entries, webhooks } = newTenant(service);
    for (let again = 0; again < 5; again++) await webhooks.create();
    const seen: string[] = [];
    let query: string | null = "?limit=2&action=endpoint.created";
    while (query !== null) {
      const page = await read(query);
      seen.push(...auditAnswer.parse(page.body).entries.map(({ id }) => id));
      query = /^<\/api\/audit(\?.*)>; rel="next"$/.exec(page.headers.get("link") ?? "")?.[1] ?? null;
    }
    assert.deepEqual(
      seen,
      (await entries()).map(({ id }) => id),
    );
    assert.deepEqual(seen, seen.toSorted().toReversed());
    assert.equal(new Set(seen).size, 5);
    const full = await read("?limit=5&action=endpoint.created");
    assert.equal(full.headers.get("link"), null, "nothing is behind a full last page");
  });
});

describe("postern audit", () => {
  it("shows the operator every tenant, or one, by action and time, in lines or as JSON", async () => {
    const [one, other] = [newTenant(service), newTenant(service)];
    const { endpoint } = await one.webhooks.create();
    await other.webhooks.create();
    await other.webhooks.remove(first(await other.webhooks.list()).id);
    await service.database.pool.query(
      `INSERT INTO postern.audit_log
        VALUES (NULL, postern.uuid_v7(), now(), 'operator', NULL, 'keys.rotated', NULL, 'refused', '{"endpoints": 3}')`,
    );
    const run = async (...args: string[]) => {
      const { code, output, printed } = await runProgram(["audit", ...args], service.env);
      assert.equal(code, 0, output);
      return printed;
    };
    const all = await run();
    const line = `  ${one.tid}  user:"ada"  endpoint.created  ${endpoint.id}  127.0.0.1  {`;
    assert.equal(all.split("\n").filter((text) => text.includes(line)).length, 1, all);
    assert.ok(all.includes(`  ${other.tid}  `));
    assert.match(all, /Z {2}- {2}operator {2}keys\.rotated \(refused\) {2}- {2}- {2}\{"endpoints":3\}$/m);
    const json = z
      .array(auditObject.extend({ tenant_id: z.string().nullable() }).strict())
      .parse(JSON.parse(await run("--json", "--tenant", other.tid, "--action", "endpoint.deleted")));
    assert.deepEqual(
      json.map(({ tenant_id, action }) => [tenant_id, action]),
      [[other.tid, "endpoint.deleted"]],
    );
    assert.equal(await run("--since", "0s"), "");
    for (const [option, value, reason] of [
      ["--since", "soon", /^postern:\n {2}--since soon is not/],
      ["--tenant", "no tenant", /^postern:\n {2}no tenant is no tenant id/],
    ] as const) {
      const { code, output } = await runProgram(["audit", option, value], service.env);
      assert.equal(code, 1);
      assert.match(output, reason);
    }
    const { code, output } = await runProgram(["audit", "--action", "nothing"], service.env);
    assert.equal(code, 2);
    assert.match(output, /^postern: --action is one of /);
  });

  it("leaves the terminal alone, whatever a subject or a refused URL is made of", async () => {
    const { tid, webhooks } = newTenant(service);
    const as = { type: "user", tid, sub: "a\u009b31m\u202eb\u2028c\u007f\u{e0041}", role: "owner" };
    const json = { url: "https://10.0.0.1/\u202e\u2066\u200b" };
    assertRefused(await webhooks.call("POST", "", { as, json }), REFUSED.unsafeUrl);
    for (const form of [[], ["--json"]]) {
      const { code, output } = await runProgram(["audit", "--tenant", tid, ...form], service.env);
      assert.equal(code, 0, output);
      assert.doesNotMatch(output, /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n]]/v);
      assert.ok(output.includes(String.raw`a\u009b31m\u202eb\u2028c\u007f\udb40\udc41`), output);
    }
  });

  it("shows all of many entries, and ends quietly when nobody reads on, as in a pipe to head", async () => {
    const { tid } = newTenant(service);
    await service.database.pool.query(
      `INSERT INTO postern.audit_log
        SELECT $1, overlay(postern.lowest_id_at(now())::text placing right(gen_random_uuid()::text, 21) from 16)::uuid,
          now(), 'user', 'ada', 'endpoint.created', NULL, 'done', '{}' FROM generate_series(1, 5000)`,
      [tid],
    );
    const { printed } = await runProgram(["audit", "--tenant", tid, "--json"], service.env);
    const ids: string[] = JSON.parse(printed).map(({ id }: { id: string }) => id);
    assert.deepEqual([ids.length, new Set(ids).size], [5000, 5000]);
    const child = spawn(MAIN, ["audit", "--tenant", tid], {
      env: { PATH: process.env["PATH"], ...mutationSettings(), ...service.env },
    });
    let errors = "";
    child.stderr.on("data", (bytes: Buffer) => (errors += bytes.toString()));
    child.stdout.once("data", () => child.stdout.destroy());
    assert.deepEqual(await once(child, "exit"), [0, null], errors);
    assert.match(errors, /^Database: \S+ on \S+\.\n$/);
  });

  it("reads no further once nobody reads on", async () => {
    const { tid } = newTenant(service);
    await service.database.pool.query(
      `INSERT INTO postern.audit_log
        SELECT $1, postern.uuid_v7(), now(), 'user', 'ada', 'endpoint.created', NULL, 'done', '{}' FROM generate_series(1, 1100)`,
      [tid],
    );
    const others = new Set(process.stdout.listeners("error"));
    const ofCommand = () => process.stdout.listeners("error").filter((listener) => !others.has(listener));
    let lines = 0;
    const write = process.stdout.write.bind(process.stdout);
    const { mock: writing } = mock.method(process.stdout, "write", (...what: Parameters<typeof write>) => {
      if (typeof what[0] !== "string" || !what[0].includes(tid)) return write(...what);
      lines++;
      if (lines === 600)
        for (const hear of ofCommand()) hear(Object.assign(new Error("EPIPE"), { code: "EPIPE" }));
      return true;
    });
    try {
      const { code } = await runHere(["audit", "--tenant", tid], service.env);
      assert.equal(ofCommand().length, 1);
      assert.deepEqual([code, lines], [0, 600]);
    } finally {
      writing.restore();
      const { stdout } = process;
      for (const hear of ofCommand()) Reflect.apply(stdout.off.bind(stdout), null, ["error", hear]);
    }
  });
});
