/** `postern portal`, whose link an operator opens in a browser. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { callWith, swap, tokenOf } from "./support/portal.ts";
import { runProgram } from "./support/program.ts";
import { startTestService, type TestService } from "./support/service.ts";

const session = z.object({ tenant: z.string(), sub: z.string(), role: z.string().nullable() });

let service: TestService;
before(async () => {
  service = await startTestService({ env: { PUBLIC_URL: "https://hooks.example.com" } });
});
after(() => service.stop());

const run = (...args: string[]) => runProgram(["portal", "--url", service.url, ...args], service.env);

/** The token of the link that the command printed. */
async function open(...args: string[]): Promise<{ path: string; token: string }> {
  const { code, output } = await run(...args);
  assert.equal(code, 0, output);
  const { origin, pathname, hash } = new URL(output.trim());
  assert.equal(origin, "https://hooks.example.com");
  const { token } = tokenOf(await swap(service, hash.slice("#code=".length)));
  return { path: pathname, token };
}

describe("postern portal", () => {
  it("opens a tenant's pages as its owner, or without changing anything", async () => {
    const owner = await open("--tenant", "acme", "--subject", "ops");
    assert.equal(owner.path, "/portal/endpoints");
    const { body } = await callWith(service, owner.token, ["GET", "/api/session"]);
    assert.deepEqual(session.parse(body), { tenant: "acme", sub: "ops", role: "owner" });
    const reader = await open("--tenant", "acme", "--read-only");
    const json = { url: "https://hooks.example.com/" };
    const refused = await callWith(service, reader.token, ["POST", "/api/webhooks"], json);
    assert.equal(refused.status, 403);
  });

  it("opens the operator's pages, and no tenant's", async () => {
    const { path, token } = await open();
    assert.equal(path, "/portal/tenants");
    assert.equal((await callWith(service, token, ["GET", "/api/tenants"])).status, 200);
    assert.notEqual((await callWith(service, token, ["GET", "/api/webhooks"])).status, 200);
  });

  it("refuses what is no tenant, no role and no length, and what only a tenant's pages can be", async () => {
    for (const args of [
      ["--tenant", "no tenant"],
      ["--tenant", "acme", "--role", "king"],
      ["--tenant", "acme", "--minutes", "soon"],
      ["--read-only"],
      ["--role", "member"],
    ]) {
      const { code, output } = await run(...args);
      assert.notEqual(code, 0, output);
      assert.doesNotMatch(output, /#code=/);
    }
  });
});
