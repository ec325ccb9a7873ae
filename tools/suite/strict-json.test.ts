import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseStrictBytes } from "./strict-json.ts";

const reference = join(import.meta.dirname, "..", "..", "suites", "storage-lifecycle");

const ACCEPTED = [
  "null",
  " [ ] ",
  '{"a": {"b": [1, -1, 0, true, false, null, ""]}}',
  "9007199254740991",
  "-9007199254740991",
  String.raw`"\u0000\u001b\u00e9\ud801\udc37\/\"\\"`,
  '"\u007f\u2028\u{10437}"',
  `${"[".repeat(32)}${"]".repeat(32)}`,
];

const REFUSED = [
  "",
  "1.0",
  "1e3",
  "-0",
  "01",
  "+1",
  ".5",
  "NaN",
  "-Infinity",
  "9007199254740992",
  "-9007199254740992",
  "1".repeat(400),
  '{"a": 1, "a": 1}',
  String.raw`{"a": 1, "\u0061": 2}`,
  '{"__proto__": 1}',
  '{"a": 1,}',
  "[1,]",
  "[1 2]",
  "{a: 1}",
  "'a'",
  String.raw`"\ud801"`,
  String.raw`"\udc37\ud801"`,
  String.raw`"\x41"`,
  '"\n"',
  '"\t"',
  '"a',
  "tru",
  "null null",
  "[1]\r\n",
  "\ufeff[1]",
  "// a\n1",
  `${"[".repeat(33)}${"]".repeat(33)}`,
  "[".repeat(100_000),
];

const NOT_UTF8 = Buffer.from([0x22, 0xe9, 0x22]);

/** Which of the files the Python reader accepts, by its own judgement. */
function acceptedByReference(files: readonly Buffer[]): boolean[] {
  const program = [
    "import base64, json, sys",
    "from reference.strict_json import StrictJsonError, parse_bytes",
    "def accepts(data):",
    "    try:",
    "        parse_bytes(base64.b64decode(data))",
    "    except StrictJsonError:",
    "        return False",
    "    return True",
    "print(json.dumps([accepts(data) for data in json.load(sys.stdin)]))",
  ].join("\n");
  const { stdout, stderr } = spawnSync("python3", ["-B", "-c", program], {
    cwd: reference,
    encoding: "utf8",
    input: JSON.stringify(files.map((file) => file.toString("base64"))),
  });
  assert.equal(stderr, "");
  const answers: unknown = JSON.parse(stdout);
  assert.ok(Array.isArray(answers));
  return answers.map((answer) => answer === true);
}

function accepts(file: Buffer): boolean {
  try {
    parseStrictBytes(file);
    return true;
  } catch {
    return false;
  }
}

describe("strict JSON", () => {
  const files = [...ACCEPTED, ...REFUSED].map((text) => Buffer.from(text)).concat(NOT_UTF8);
  const wanted = files.map((_, index) => index < ACCEPTED.length);

  it("accepts one spelling of each value and refuses the others", () => {
    for (const [index, file] of files.entries()) {
      assert.equal(accepts(file), wanted[index], file.toString().slice(0, 40));
    }
  });

  it("is read alike by the Python reference", () => {
    const answers = acceptedByReference(files);
    for (const [index, file] of files.entries()) {
      assert.equal(answers[index], wanted[index], file.toString().slice(0, 40));
    }
  });
});
