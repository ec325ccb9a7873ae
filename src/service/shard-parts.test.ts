import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { freePort } from "../../test/support/free-port.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { together } from "../shared/ending.ts";
import { makeProcessParts } from "./process-parts.ts";
import { makeShardedParts } from "./shard-parts.ts";

it("a process on several databases notices each that does not answer, and a changed catalog", async (test) => {
  const { log, lines } = makeKeptLog();
  const url = `postgres://127.0.0.1:${await freePort()}/postern`;
  const shards = ["eu1", "eu2"].map((name) => ({ name, url: `${url}_${name}`, weight: 1 }));
  const options = {
    config: readConfig({ ...makeSecrets(), DATABASE_URL: url, DATA_DIR: temporaryPath("data") }),
    catalog: await openCatalog(undefined),
    databaseUrl: url,
    migrations: [],
    roles: new Set(["api"] as const),
    log,
  };
  const process = await makeProcessParts(options);
  const parts = await makeShardedParts(options, process, shards);
  assert.ok(parts.background.includes(process.catalogWatch));
  test.after(async () => {
    await together(parts.background, (part) => part.stop());
    await parts.close();
  });
  for (const part of parts.background) part.start();
  await eventually(async () =>
    shards.every(({ name }) => lines.some((line) => line["level"] === 50 && line["shard"] === name)),
  );
});
