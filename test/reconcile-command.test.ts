/** `postern storage reconcile`, run by hand, and killed at any moment. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { after, before, beforeEach, describe, it } from "node:test";
import { dirname } from "node:path";
import * as z from "zod";
import { runPass } from "../src/storage/upkeep/reconcile-pass.ts";
import { openArtifacts, type Artifacts } from "./support/artifacts.ts";
import { runHere } from "./support/command.ts";
import { runProgram, startCommand } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { freePort } from "./support/free-port.ts";

let artifacts: Artifacts;

before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());
beforeEach(() => artifacts.reset());

describe("postern storage reconcile", () => {
  it("tells what it would do, and then does it", async () => {
    const key = await artifacts.storeOrphan();
    await artifacts.age();
    await runPass(artifacts.services);
    await artifacts.age();
    const dry = await runProgram(["storage", "reconcile", "--dry-run"], artifacts.env);
    assert.equal(dry.code, 0, dry.output);
    assert.match(
      dry.printed,
      new RegExp(
        `^purge +object_without_row +${key}\n1 keys: purge 1\nnothing was changed\n1 results destroy something\\. To do exactly this: --acknowledge [0-9a-f]{64}\n$`,
      ),
    );
    assert.match(dry.errors, new RegExp(`^1 keys compared, up to ${key}$`, "m"));
    assert.ok(existsSync(artifacts.placeOf(key)));
    const real = await runProgram(["storage", "reconcile", "--json"], artifacts.env);
    assert.equal(real.code, 0, real.output);
    assert.match(real.printed, /"purge": 1/);
    assert.ok(!existsSync(artifacts.placeOf(key)));
  });

  it("names each key that it did something with, or left alone though it is not its own", async () => {
    const { key, place } = await artifacts.store("available");
    await rm(place);
    await artifacts.age();
    await writeFile(artifacts.placeOf("read-me.txt"), "not ours");
    const { code, output } = await runProgram(["storage", "reconcile"], artifacts.env);
    assert.equal(code, 0, output);
    assert.match(output, new RegExp(`^suspect +row_without_object +${key}$`, "m"));
    assert.match(output, /^ignored +foreign +read-me\.txt$/m);
  });

  it("says why an upload that is whole is not made available", async () => {
    await artifacts.store("pending");
    await artifacts.age();
    // Nobody serves the files at this port, so no link can be tried.
    const env = { ...artifacts.env, PORT: String(await freePort()) };
    const { code, output } = await runProgram(["storage", "reconcile"], env);
    assert.equal(code, 0, output);
    assert.match(
      output,
      /An upload is whole and waits.*a signed link could not be tried: connect ECONNREFUSED/,
    );
  });

  it("killed at any moment and run again comes to the same end, and tells nothing twice", async () => {
    const gone = await Promise.all(Array.from({ length: 8 }, () => artifacts.store("available")));
    const expired = await Promise.all(Array.from({ length: 60 }, () => artifacts.store("expired")));
    // Of so many that stay, what goes is no more than the bound of a pass.
    await Promise.all(Array.from({ length: 60 }, () => artifacts.store("available")));
    for (const { place } of gone) await rm(place);
    const orphans = await Promise.all(Array.from({ length: 8 }, () => artifacts.storeOrphan()));
    await artifacts.age();
    await runPass(artifacts.services);
    await artifacts.age();
    for (const deleted of [1, 5, 20, 40]) {
      const running = startCommand(["storage", "reconcile"], artifacts.env);
      await eventually(
        async () => running.hasEnded() || expired.filter(({ place }) => !existsSync(place)).length >= deleted,
      );
      await running.kill();
    }
    await artifacts.age();
    await runPass(artifacts.services);
    await artifacts.age();
    await runPass(artifacts.services);
    await artifacts.age();
    assert.deepEqual((await runPass(artifacts.services)).decisions, {});
    assert.ok((await Promise.all(gone.map(artifacts.stateOf))).every((state) => state === "missing"));
    assert.ok((await Promise.all(expired.map(artifacts.stateOf))).every((state) => state === "purged"));
    assert.ok(
      [...expired.map(({ key }) => key), ...orphans].every((key) => !existsSync(artifacts.placeOf(key))),
    );
    const { rows } = await artifacts.pool.query(
      "SELECT key, type, count(*)::int AS times FROM postern.storage_events GROUP BY key, type HAVING count(*) > 1",
    );
    // A deletion that a kill prevented is told again when it is tried again.
    assert.deepEqual(
      rows.filter(
        ({ type }) => !["object.purged", "object.orphan_purged", "object.suspected"].includes(type),
      ),
      [],
    );
    assert.equal((await artifacts.toldTenants()).length, gone.length);
  });
});

describe("postern storage doctor", () => {
  it("writes to the store, counts the artifacts and finds nothing wrong", async () => {
    await artifacts.store("available");
    const { code, printed } = await runHere(["storage", "doctor"], artifacts.env);
    assert.equal(code, 0, printed);
    assert.deepEqual(printed.trimEnd().split("\n"), [
      "ok    object store: a folder in DATA_DIR",
      "ok    owner mark: the bucket is this installation's",
      "ok    round trip: an object was written, found as it was, and deleted",
      "ok    artifacts: 1 available",
      "ok    reconciling: has not run yet",
    ]);
    await runPass(artifacts.services);
    const again = await runHere(["storage", "doctor"], artifacts.env);
    assert.match(again.printed, /^ok {4}reconciling: last page at \d{4}-\S+Z$/m);
    const { objects } = await artifacts.services.bucket.list({ after: null, limit: 10 });
    assert.equal(objects.length, 1);
  });

  it("says the same to a program, as JSON", async () => {
    await artifacts.store("available");
    const { code, printed } = await runHere(["storage", "doctor", "--json"], artifacts.env);
    assert.equal(code, 0, printed);
    const findings = z.array(z.record(z.string(), z.string())).parse(JSON.parse(printed));
    assert.deepEqual(
      findings.map(({ check, status }) => [check, status]),
      ["object store", "owner mark", "round trip", "artifacts", "reconciling"].map((check) => [check, "ok"]),
    );
    assert.equal(findings[3]?.["detail"], "1 available");
  });

  it("fails where artifacts are not in its folder, and warns of those in another bucket", async () => {
    const lost = await artifacts.store("available");
    await artifacts.store("available");
    const { id } = await artifacts.store("expired");
    await rm(lost.place);
    await artifacts.pool.query("UPDATE postern.stored_objects SET bucket = 'former' WHERE id = $1", [id]);
    const { code, printed } = await runHere(["storage", "doctor"], artifacts.env);
    assert.equal(code, 1, printed);
    assert.match(
      printed,
      /^ok {4}artifacts: 2 available\nfail {2}artifacts: 1 of 2 that were looked for are not in the bucket artifacts\n {6}→ .*same folder/m,
    );
    assert.match(
      printed,
      /^warn {2}artifacts: 1 are in the bucket former, so nobody downloads or deletes them\n {6}→ .*OBJECT_STORE_URL/m,
    );
  });

  it("fails where nothing can be written, and looks at the rest", async () => {
    const folder = dirname(artifacts.placeOf("any"));
    await rm(folder, { recursive: true });
    await writeFile(folder, "");
    try {
      const { code, printed } = await runHere(["storage", "doctor"], artifacts.env);
      assert.equal(code, 1, printed);
      assert.match(
        printed,
        /^fail {2}round trip: the folder of stored artifacts: .*\n {6}→ see what is at that path/m,
      );
      assert.match(printed, /^ok {4}reconciling: /m);
    } finally {
      await rm(folder);
    }
  });

  it("fails while reconciling waits for an operator, and says what to do", async () => {
    await Promise.all(Array.from({ length: 25 }, () => artifacts.storeOrphan()));
    assert.match(await artifacts.metrics(), /^storage_reconcile_halted 0$/m);
    await artifacts.age();
    await runProgram(["storage", "reconcile"], artifacts.env);
    await artifacts.age();
    const stopped = await runProgram(["storage", "reconcile"], artifacts.env);
    assert.match(stopped.output, /^Stopped: a page would destroy more than 20 artifacts\./m);
    // By a command, and seen by every process.
    assert.match(await artifacts.metrics(), /^storage_reconcile_halted 1$/m);
    const { code, output } = await runProgram(["storage", "doctor"], artifacts.env);
    assert.equal(code, 1, output);
    assert.match(output, /^fail {2}reconciling: stopped since .*more than 20 artifacts\n.*--acknowledge/m);
  });
});

describe("postern storage own", () => {
  it("says whose the bucket is, as a line and as JSON, and whose it was", async () => {
    const plain = await runHere(["storage", "own"], artifacts.env);
    assert.deepEqual(plain, { ...plain, code: 0, printed: "The bucket artifacts is this installation's.\n" });
    const bucket = { bucket: "artifacts", trouble: null };
    const { printed } = await runHere(["storage", "own", "--json"], artifacts.env);
    assert.deepEqual(JSON.parse(printed), { ...bucket, earlier: null });
    const taken = await runHere(["storage", "own", "--take-over", "--json"], artifacts.env);
    const { earlier, ...rest } = z.looseObject({ earlier: z.uuid() }).parse(JSON.parse(taken.printed));
    assert.deepEqual(rest, bucket);
    assert.ok(earlier);
  });
});
