import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { runBehindHead } from "../../test/support/program.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { listedDeliveryExample } from "../api/examples.ts";
import { tenantExample } from "../api/tenant-schemas.ts";
import { makeSecrets } from "../config.ts";

const PAGE = 100;
const PAGES = 50;
const many = <T>(one: T): T[] => Array.from({ length: PAGE }, () => one);

/** How many of 50 pages a command asks for whose reader goes at the first line: from the second on they come when it has gone. */
async function pagesRead(args: readonly string[], page: object): Promise<number> {
  const gone = Promise.withResolvers<void>();
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    const isLast = asked === PAGES;
    if (!isLast) response.setHeader("link", `<${request.url}&before=x>; rel="next"`);
    const answer = JSON.stringify(isLast ? { tenants: [], deliveries: [], searched_to: null } : page);
    if (asked === 1) response.end(answer);
    else void gone.promise.then(() => response.end(answer));
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const env = { ...makeSecrets(), DATA_DIR: "/nowhere" };
  const { code, errors } = await runBehindHead([...args, "--url", url], env, gone.resolve);
  server.close();
  assert.deepEqual([code, errors], [0, ""]);
  return asked;
}

describe("a list whose reader has gone, as behind head", () => {
  for (const [args, page] of [
    [["tenants", "list"], { tenants: many(tenantExample) }],
    [["tenants", "list", "--json"], { tenants: many(tenantExample) }],
    [
      ["deliveries", "--tenant", "acme", "--limit", "100000"],
      { deliveries: many(listedDeliveryExample), searched_to: null },
    ],
  ] as const) {
    it(`reads no more pages: postern ${args.join(" ")}`, async () => {
      // The third may be asked for before the system has refused what the second has.
      const count = await pagesRead(args, page);
      assert.ok(count <= 3, `${count} pages`);
    });
  }
});
