/** What `postern doctor` says of each host of a list; of a standby and a silent one the program's own test says it. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestDatabase } from "../../../test/support/postgres.ts";
import { pretend, sayHost } from "../../../test/support/pretended-server.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { temporaryPath } from "../../../test/support/temporary.ts";
import { openTimelineFolder } from "../../database/hosts/timeline-folder.ts";
import { checkHosts } from "./doctor-hosts.ts";

it("warns of a host that is a primary and takes no writes, and says what to do", async (test) => {
  const database = await createTestDatabase({ migrated: false });
  test.after(() => database.drop());
  const url = new URL(database.url);
  const proxy = await startTcpProxy(Number(url.port));
  test.after(() => proxy.close());
  const names = [proxy.port, url.port].map((port) => `127.0.0.1:${port}`);
  const examine = (options: string) => {
    const databaseUrl = url.href.replace(url.host, names.join(",")) + options;
    return checkHosts({ databaseUrl, dataDir: temporaryPath("data") });
  };
  assert.deepEqual(
    await examine(""),
    names.map((name) => ({ check: "host", status: "ok", detail: `${name} accepts writes` })),
  );
  const fix =
    "make it a standby of the primary, or take it out of DATABASE_URL (docs/operating.md, High availability)";
  await database.pool.query(`ALTER DATABASE ${url.pathname.slice(1)} SET default_transaction_read_only = on`);
  assert.deepEqual(
    await examine("?application_name=again"),
    names.map((name) => ({ check: "host", status: "warn", detail: `${name} is read-only`, fix })),
  );
});

it("says nothing of a single host, or of none", async () => {
  const dataDir = temporaryPath("data");
  for (const databaseUrl of [undefined, "postgres://postern@127.0.0.1:5432/postern"])
    assert.deepEqual(await checkHosts({ databaseUrl, dataDir }), []);
});

it("warns of a primary that the service has seen replaced before", async (test) => {
  const database = await createTestDatabase({ migrated: false });
  test.after(() => database.drop());
  const { url } = await pretend(database, sayHost({ timeline: 2, system: "7" }));
  const { host, port } = new URL(url);
  const dataDir = temporaryPath("data");
  const silent = { info: () => undefined, warn: () => undefined };
  openTimelineFolder(dataDir, silent).raise("7", 3);
  const found = await checkHosts({ databaseUrl: url.replace(host, `${host},localhost:${port}`), dataDir });
  const [one] = found;
  assert.equal(one?.status, "warn");
  assert.match(one?.detail ?? "", /is on timeline 2, and a newer primary on timeline 3 was seen/);
});
