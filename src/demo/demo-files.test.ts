import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import fs, { readFile, stat, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, it } from "node:test";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets } from "../config.ts";
import { writeEnvFile } from "./demo-env.ts";
import { findSecrets, keptSecrets } from "./demo-secrets.ts";

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

describe("the demonstration's secrets", () => {
  it("are those of the first start, also where two begin at once, in a file that only its owner reads", async () => {
    const file = join(temporaryPath("data"), "demo-secrets.json");
    assert.equal(await findSecrets(file), null);
    const [one, other] = await Promise.all([keptSecrets(file, makeSecrets), keptSecrets(file, makeSecrets)]);
    assert.deepEqual(one, other);
    assert.deepEqual(await keptSecrets(file, makeSecrets), one);
    assert.deepEqual(await findSecrets(file), one);
    assert.equal(await modeOf(file), 0o600);
  });

  it("are wholly there at once, so that a first start may be ended at any moment", async (test) => {
    const file = temporaryPath("demo-secrets.json");
    test.mock.method(fs, "writeFile", async (path: string) => {
      writeFileSync(path, "{");
      throw new Error("no space left");
    });
    syncBuiltinESMExports();
    await assert.rejects(keptSecrets(file, makeSecrets), /no space left/);
    test.mock.restoreAll();
    syncBuiltinESMExports();
    assert.deepEqual(await keptSecrets(file, makeSecrets), await findSecrets(file));
  });

  it("are not made anew where their file cannot be read", async () => {
    const file = temporaryPath("demo-secrets.json");
    await writeFile(file, "{");
    await assert.rejects(keptSecrets(file, makeSecrets), SyntaxError);
    await assert.rejects(findSecrets(file), SyntaxError);
    assert.equal(await readFile(file, "utf8"), "{");
  });
});

describe("the demonstration's variables", () => {
  it("are what a shell reads, whatever is in them, and replace those of an earlier start", async () => {
    const file = temporaryPath("demo.env");
    // As somebody else could have left it.
    await writeFile(file, "export EARLIER='yes'\n", { mode: 0o644 });
    const value = `it's "$HOME" \`id\` \\ !`;
    await writeEnvFile(file, { ONE: value, OTHER: "plain" });
    const script = `. '${file}' && printf '%s\\n' "$ONE" "$OTHER" "\${EARLIER-none}"`;
    assert.equal(execFileSync("sh", ["-c", script], { encoding: "utf8" }), `${value}\nplain\nnone\n`);
    assert.equal(await modeOf(file), 0o600);
  });
});
