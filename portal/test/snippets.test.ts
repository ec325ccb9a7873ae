/** The verification cut out of the example receivers, as the portal shows it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { generateSigningSecret, makeSigningKey, sign } from "../../src/outbound/signature.ts";
import { verificationOf, withoutMarks } from "../src/pages/endpoint-secret/cut.ts";

const SOURCES = {
  node: ["node/receiver.mjs", "function isSigned", "function keyOf", "MAX_AGE_S ="],
  python: ["python/receiver.py", "def is_signed", "def key_of", "MAX_AGE_S ="],
  go: ["go/main.go", "func isSigned", "func keyOf", "const maxAge ="],
  ruby: ["ruby/config.ru", "def signed?", "KEYS =", "MAX_AGE_S ="],
  php: ["php/receiver.php", "function is_signed", "function key_of", "const MAX_AGE_S ="],
  java: ["java/Receiver.java", "boolean isSigned", "byte[] keyOf", "MAX_AGE_S ="],
  csharp: ["csharp/Program.cs", "bool IsSigned", "var keys", "const long MaxAgeS ="],
  rust: ["rust/src/main.rs", "fn is_signed", "fn key_of", "const MAX_AGE_S"],
} as const;

const sourceOf = (path: string): string =>
  readFileSync(join(import.meta.dirname, "..", "..", "receivers", path), "utf8");

describe("the verification cut out of a receiver", () => {
  for (const [language, [path, ...parts]] of Object.entries(SOURCES)) {
    it(`in ${language} has what it needs, and no server`, () => {
      const source = sourceOf(path);
      const code = verificationOf(source);
      for (const part of parts) assert.ok(code.includes(part), `${part} in\n${code}`);
      assert.doesNotMatch(code, /region|413|127\.0\.0\.1/);
      assert.doesNotMatch(withoutMarks(source), /region/);
      for (const line of code.split("\n")) assert.ok(source.includes(line.trim()));
    });
  }
});

describe("the verification runs by itself", () => {
  const secret = generateSigningSecret();
  const body = '{"event":"invoice.paid","data":{"note":"für dich: 🧾"}}';
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "postern-snippet-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  function headersAt(ageS: number): Record<string, string> {
    const timestampSeconds = Math.floor(Date.now() / 1000) - ageS;
    const { webhookSignature } = sign([makeSigningKey(secret)], {
      webhookId: "msg_1",
      timestampSeconds,
      body,
    });
    return {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": webhookSignature,
    };
  }

  /** Runs the code with a last line that prints its judgement of three requests: right, changed, old. */
  async function judge(file: string, command: readonly string[], code: string): Promise<string> {
    const path = join(folder, file);
    await writeFile(path, code);
    const input = JSON.stringify({ now: headersAt(0), old: headersAt(400), body });
    const run = spawnSync(command[0] ?? "", [...command.slice(1), path], {
      env: { ...process.env, WEBHOOK_SECRETS: secret },
      encoding: "utf8",
      input,
    });
    assert.equal(run.status, 0, run.stderr);
    return run.stdout.trim().toLowerCase();
  }

  it("in Node", async () => {
    const code = `${verificationOf(sourceOf("node/receiver.mjs"))}
import { readFileSync } from "node:fs";
const { now, old, body } = JSON.parse(readFileSync(0, "utf8"));
console.log(isSigned(now, Buffer.from(body)), isSigned(now, Buffer.from(body + " ")), isSigned(old, Buffer.from(body)));`;
    assert.equal(await judge("verify.mjs", [process.execPath], code), "true false false");
  });

  it("in Python", { skip: spawnSync("python3", ["--version"]).status !== 0 }, async () => {
    const code = `${verificationOf(sourceOf("python/receiver.py"))}
import json, sys
given = json.load(sys.stdin)
body = given["body"].encode()
print(is_signed(given["now"], body), is_signed(given["now"], body + b" "), is_signed(given["old"], body))`;
    assert.equal(await judge("verify.py", ["python3"], code), "true false false");
  });
});
