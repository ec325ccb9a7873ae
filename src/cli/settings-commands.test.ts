/** Commands that need the settings alone: what they list, refuse and take from where. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, describe, it } from "node:test";
import { captured, runHere } from "../../test/support/command.ts";
import { makeSecrets, SETTING_NAMES } from "../config.ts";
import { ConfigError } from "../shared/config-error.ts";
import { confirm } from "./confirm.ts";
import { parseWorkers } from "./extra-workers.ts";
import { readStartConfig } from "./run.ts";

const secrets = makeSecrets();
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-settings-"));
});
after(() => rm(folder, { recursive: true }));

describe("postern config", () => {
  it("lists every setting with its value and what it is for, secrets masked", async () => {
    const { code, printed } = await runHere(["config"], { ...secrets, DATA_DIR: folder, PORT: "9999" });
    assert.equal(code, 0);
    const lines = printed.trimEnd().split("\n");
    assert.equal(lines.length, 2 * SETTING_NAMES.length);
    const width = Math.max(...SETTING_NAMES.map((name) => name.length));
    const lineOf = (name: string) => lines.find((line) => line.startsWith(`${name.padEnd(width)}  `)) ?? "";
    assert.equal(lineOf("PORT").trimEnd(), `${"PORT".padEnd(width)}  9999`);
    assert.match(lineOf("HOST"), /^HOST +\S+ {2}\(default\)$/);
    assert.match(lineOf("DATABASE_URL"), /^DATABASE_URL +- {2}\(default\)$/);
    assert.ok(lines.every((line, place) => place % 2 === 0 || line.startsWith(" ".repeat(width + 2))));
    for (const secret of Object.values(secrets)) assert.ok(!printed.includes(secret));
    const asJson = await runHere(["config", "--json"], { ...secrets, DATA_DIR: folder });
    assert.deepEqual(
      JSON.parse(asJson.printed).map(({ name }: { name: string }) => name),
      SETTING_NAMES,
    );
  });

  it("lists them beside the complaint where one is wrong, and exits with 1", async () => {
    const { code, printed, errors } = await runHere(["config"], { ...secrets, DATA_DIR: folder, PORT: "x" });
    assert.equal(code, 1);
    assert.match(printed, /^PORT +x$/m);
    assert.match(errors, /^postern:\n {2}PORT /);
    const other = await runHere(["config"], { ...secrets, DATA_DIR: folder, RETENTION_DAYS: "x" });
    assert.equal(other.code, 1);
    assert.match(other.errors, /^postern:\n {2}RETENTION_DAYS /);
  });
});

describe("a command beside a service", () => {
  const none = { SESSION_JWT_SECRET: "", INTEGRATION_ENCRYPTION_KEY: "" };
  const token = (env: Record<string, string>) =>
    runHere(["token", "--tenant", "acme"], { DATA_DIR: folder, ...none, ...env });

  it("takes the demonstration's secrets from its folder where none is set, and not in production", async () => {
    assert.match(
      (await token({})).errors,
      /INTEGRATION_ENCRYPTION_KEY is required[^]*If Postern is installed already, run this command with its settings/,
    );
    await writeFile(join(folder, "demo-secrets.json"), JSON.stringify(secrets));
    assert.equal((await token({})).code, 0);
    const inProduction = await token({ NODE_ENV: "production", DATABASE_URL: "postgres://127.0.0.1/x" });
    assert.equal(inProduction.code, 1);
    assert.match(inProduction.errors, /INTEGRATION_ENCRYPTION_KEY is required/);
    const ofIssuer = await token({ SESSION_JWKS_URL: "https://login.example.com/" });
    assert.match(ofIssuer.errors, /INTEGRATION_ENCRYPTION_KEY is required/);
    assert.doesNotMatch(ofIssuer.errors, /If Postern is installed already/);
    const half = await token({ SESSION_JWT_SECRET: secrets.SESSION_JWT_SECRET });
    assert.equal(half.code, 1);
    assert.doesNotMatch(half.errors, /If Postern is installed already/);
  });
});

async function messageOf(env: Record<string, string>): Promise<string> {
  const failed = await readStartConfig(env).then(
    () => null,
    (error: unknown) => error,
  );
  assert.ok(failed instanceof ConfigError);
  return failed.message;
}

describe("a start", () => {
  it("tells the faults of the settings and of the catalog, each on a line", async () => {
    const EVENT_CATALOG = join(folder, "catalog.yaml");
    await writeFile(EVENT_CATALOG, "- typ: x\n");
    const both = await messageOf({ ...secrets, DATA_DIR: folder, PORT: "x", EVENT_CATALOG });
    const [settings, entries] = [
      await messageOf({ ...secrets, DATA_DIR: folder, PORT: "x" }),
      await messageOf({ ...secrets, DATA_DIR: folder, EVENT_CATALOG }),
    ];
    assert.equal(both, `${settings}\n${entries}`);
    const { config, catalog: read } = await readStartConfig({ ...secrets, DATA_DIR: folder });
    assert.equal(config.dataDir, folder);
    assert.ok(read.current().types.size > 0);
  });
});

describe("a demonstration", () => {
  it("runs one worker, and not in production", async () => {
    for (const [words, env, refusal] of [
      [["--workers", "2"], {}, "--demo runs one worker: leave --workers out"],
      [[], { NODE_ENV: "production" }, "it does not run under NODE_ENV=production"],
    ] as const) {
      const { code, printed, errors } = await runHere(["up", "--demo", ...words], {
        DATA_DIR: folder,
        ...env,
      });
      assert.deepEqual([code, printed], [1, ""]);
      assert.ok(errors.includes(refusal), errors);
    }
  });

  it("takes --wait as any other start does", async () => {
    const { code, errors } = await runHere(["up", "--demo", "--wait", "soon"], { NODE_ENV: "production" });
    assert.deepEqual([code, errors], [1, "postern:\n  --wait soon is not a duration such as 60s or 2m\n"]);
  });
});

describe("the number of workers", () => {
  it("is 1 to 64", () => {
    assert.deepEqual(["1", "9", "10", "64"].map(parseWorkers), [1, 9, 10, 64]);
    for (const text of ["0", "65", "100", "-1", "1.5", "", "two", "1x", "x1"]) {
      assert.throws(
        () => parseWorkers(text),
        new ConfigError(`--workers ${text} is not a number from 1 to 64`),
      );
    }
  });
});

/** Asks at a terminal where this is typed, and nothing more comes if `isOver`. */
async function answer(text: string, isOver = false): Promise<void> {
  const value = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  Object.defineProperty(process, "stdin", { configurable: true, value });
  value.write(text);
  if (isOver) value.end();
  try {
    await captured(() => confirm("Erase all?"));
  } finally {
    // A command that still reads a terminal never ends.
    assert.ok(value.isPaused());
  }
}

describe("what cannot be undone", () => {
  it("is not done without a terminal that can be asked", async () => {
    await assert.rejects(confirm("Erase all?"), new ConfigError("Erase all? Add --yes."));
  });

  it("is done at a terminal for yes alone", async () => {
    const terminal = Object.getOwnPropertyDescriptor(process, "stdin");
    assert.ok(terminal !== undefined);
    try {
      for (const yes of ["yes", " yes "]) await answer(`${yes}\n`);
      for (const no of ["", "y", "no", "YES!"]) {
        await assert.rejects(answer(`${no}\n`), new ConfigError("nothing was erased"), no);
      }
    } finally {
      Object.defineProperty(process, "stdin", terminal);
    }
  });

  it("is not done where nobody answers: at Ctrl-C, at Ctrl-D, and when the input ends", async () => {
    const terminal = Object.getOwnPropertyDescriptor(process, "stdin");
    const wasTerminal = process.stderr.isTTY;
    assert.ok(terminal !== undefined);
    const nothing = new ConfigError("nothing was erased");
    try {
      for (const isTerminal of [false, true]) {
        process.stderr.isTTY = isTerminal;
        await assert.rejects(answer("", true), nothing);
      }
      for (const key of ["\u0003", "\u0004"]) await assert.rejects(answer(key), nothing, key);
    } finally {
      process.stderr.isTTY = wasTerminal;
      Object.defineProperty(process, "stdin", terminal);
    }
  });
});
