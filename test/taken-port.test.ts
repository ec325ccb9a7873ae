import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { makeSecrets } from "../src/config.ts";
import { listen } from "./support/tls-receiver.ts";
import { runProgram } from "./support/program.ts";

it("a start whose port is taken closes its connections before it stops an embedded database", async (test) => {
  const folder = await mkdtemp(join(tmpdir(), "postern-taken-"));
  test.after(() => rm(folder, { recursive: true }));
  const server = createServer();
  test.after(() => server.close());
  const PORT = String(await listen(server));
  const { code, output } = await runProgram(["up"], { ...makeSecrets(), DATA_DIR: folder, PORT });
  assert.equal(code, 1);
  assert.match(output, /EADDRINUSE/);
  assert.doesNotMatch(output, /connection was lost/);
});
