import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { blockersOf, copySuite, readEvidence, run, suiteFolder, suitePython } from "./support/suite-copy.ts";

/** A whole run takes half a minute; a machine under load takes many times as long. */
const LIMIT_MS = 1_200_000;

const GO_ENV = {
  ...process.env,
  GOFLAGS: `${process.env["GOFLAGS"] ?? ""} -mod=mod`,
  GOPROXY: "off",
  GOTOOLCHAIN: "local",
  CGO_ENABLED: "0",
};
const hasGo = spawnSync("go", ["version"], { env: GO_ENV }).status === 0;

describe(
  "a runner in Go, written from the suite's guide alone,",
  { skip: hasGo ? false : "no Go here" },
  () => {
    const families = "derive_deadline,evaluate_expiry,validate_object_key";
    let folder = "";
    let runner = "";
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "postern-go-"));
      runner = join(folder, "runner");
      const sums = createHash("sha256")
        .update(readFileSync(join(suiteFolder, "SHA256SUMS")))
        .digest("hex");
      const source = join(import.meta.dirname, "storage-lifecycle-go");
      const args = ["-C", source, "build", "-ldflags", `-X main.suiteRoot=${sums}`, "-o", runner, "."];
      const { status, output } = await run("go", args, GO_ENV);
      assert.equal(status, 0, output);
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    it("holds the vectors of canonical JSON", async () => {
      const { status, output } = await run(runner, [
        "-vectors",
        join(suiteFolder, "vectors", "canonical-json.json"),
      ]);
      assert.equal(status, 0, output);
    });

    it("passes the three families that it has", { timeout: LIMIT_MS }, async () => {
      const copy = copySuite(folder, "three");
      const args = [join(copy, "validate.py"), "--runner", runner, "--families", families];
      const { status, output } = await run(suitePython(), args);
      assert.equal(status, 0, output);
      const { state, production } = readEvidence(copy);
      assert.equal(state, "PASSED");
      assert.equal(production?.families.join(), families);
      assert.equal(production?.cases, 23);
    });

    it("does not pass as if it had others", { timeout: LIMIT_MS }, async () => {
      const copy = copySuite(folder, "others");
      const wanted = ["--families", "evaluate_expiry,validate_bucket"];
      const args = [join(copy, "validate.py"), "--runner", runner, ...wanted];
      const { status, output } = await run(suitePython(), args);
      assert.equal(status, 1, output);
      assert.match(
        blockersOf(copy).join("\n"),
        /^PRODUCTION_FAMILIES the runner does not have validate_bucket/m,
      );
    });
  },
);
