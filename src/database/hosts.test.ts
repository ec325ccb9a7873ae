import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { Hosts } from "./hosts.ts";

it("goes on to another host on the same timeline once the one it used is gone", async () => {
  const database = await createTestDatabase();
  const { port } = new URL(database.url);
  const proxy = await startTcpProxy(Number(port));
  const hosts = new Hosts(
    [proxy.port, port].map((one) => {
      const url = new URL(database.url);
      url.port = String(one);
      return { name: `127.0.0.1:${one}`, url: url.href };
    }),
  );
  assert.equal((await hosts.pick()).host.name, `127.0.0.1:${proxy.port}`);
  await proxy.close();
  // The first look learns that it is gone, and may have asked the other before.
  await hosts.look();
  await hosts.look();
  assert.equal((await hosts.pick()).host.name, `127.0.0.1:${port}`);
  await database.drop();
});
