/** The `postern` command as a process of its own, for tests that stop or kill it. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeSecrets, type Environment } from "../../src/config.ts";
import { mutationSettings } from "./mutation.ts";
import { issueTestToken, OWNER, request, type ApiAnswer, type CallOptions } from "./calls.ts";
import { temporaryPath } from "./temporary.ts";

/** The sources, which node runs as they are. */
export const SOURCES = join(import.meta.dirname, "..", "..", "src", "main.ts");
/**
 * The variable of the environment that names the bundled program. A run of all
 * tests builds it once, because a bundle starts in half of the CPU time.
 */
export const BUNDLED_PROGRAM = "POSTERN_TEST_PROGRAM";
/** What tests start. */
export const MAIN = process.env[BUNDLED_PROGRAM] ?? SOURCES;
/** In the log line of a start, or in the demonstration's welcome with the last of its hints. */
const ADDRESS = /(?:"address":"|^ {2}API +(?=[^]*^Ctrl-C ))(http:[^"\s]+)/m;

const running = new Set<ChildProcess>();
// A test that fails must not leave its programs behind.
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export type Ended = { code: number | null; signal: NodeJS.Signals | null };

export type Program = {
  url: string;
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>;
  /** Everything it has printed so far. */
  output(): string;
  signal(signal: NodeJS.Signals): void;
  /** Ends it by a signal and answers how it ended. */
  end(signal: NodeJS.Signals): Promise<Ended>;
  /** How it ended by itself. */
  ended: Promise<Ended>;
};

/** Settings that several programs of a test share: the same secrets, database and trusted receiver. */
export async function sharedSettings(databaseUrl: string, receiverCaPem: string): Promise<Environment> {
  const caFile = temporaryPath("ca.pem");
  await writeFile(caFile, receiverCaPem);
  return {
    ...makeSecrets(),
    PORT: "0",
    LOG_LEVEL: "info",
    DATABASE_URL: databaseUrl,
    DATA_DIR: temporaryPath("data"),
    DATABASE_POOL_SIZE: "5",
    OUTBOUND_ALLOWED_CIDRS: "127.0.0.0/8",
    NODE_EXTRA_CA_CERTS: caFile,
  };
}

/** Runs a command that ends by itself. The two streams have no order between them: `printed` is stdout alone, `errors` stderr. */
export async function runProgram(args: readonly string[], env: Environment, main = MAIN) {
  const { child, output, printed, errors } = launch(main, args, env);
  const [code] = await once(child, "close");
  return { code, output: output(), printed: printed(), errors: errors() };
}

/** Runs a command whose reader has gone, as behind `head`, or with `alsoOfErrors` behind `2>&1 | head`. */
export async function runUnread(args: readonly string[], env: Environment, alsoOfErrors = false) {
  const { child, errors } = launch(MAIN, args, env);
  child.stdout.destroy();
  if (alsoOfErrors) child.stderr.destroy();
  const [code] = await once(child, "close");
  return { code, errors: errors() };
}

/** Runs a command whose reader goes at its first line, as behind `head -1`, and says when it has gone. */
export async function runBehindHead(args: readonly string[], env: Environment, hasGone: () => void) {
  const { child, errors } = launch(MAIN, args, env);
  child.stdout.once("close", hasGone).once("data", () => child.stdout.destroy());
  const [code] = await once(child, "close");
  return { code, errors: errors() };
}

/** Starts a command that ends by itself, to be killed before it does. */
export function startCommand(args: readonly string[], env: Environment) {
  const { child } = launch(MAIN, args, env);
  const exited = once(child, "exit");
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Starts a command that runs until it is told to stop. */
export function startTask(args: readonly string[], env: Environment) {
  const { child, output, errors } = launch(MAIN, args, env);
  const closed = once(child, "close");
  return {
    /** Both streams together, in no certain order. */
    output,
    errors,
    /** Its exit code after the signal, or null where that killed it. */
    async end(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}

/** Starts a role and waits until it serves. */
export async function startProgram(args: readonly string[], env: Environment, main = MAIN): Promise<Program> {
  const { child, output } = launch(main, args, env);
  const ended = once(child, "exit").then(([code, signal]): Ended => {
    assert.ok(code === null || typeof code === "number");
    return { code, signal };
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", () => {
      const address = ADDRESS.exec(output())?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once("exit", () => reject(new Error(`it ended at once:\n${output()}`)));
  });
  return {
    url,
    output,
    async call(method, path, options = {}) {
      const { as = OWNER } = options;
      const token = as === null ? null : await issueTestToken(env, as);
      try {
        return await request(`${url}${path}`, method, { ...options, token });
      } catch (error) {
        // Why a program has ended that should live on, only its own words say.
        const end = child.exitCode ?? child.signalCode;
        if (error instanceof Error && end !== null)
          error.message += `; the program ended with ${end}:\n${output().slice(-3000)}`;
        throw error;
      }
    },
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      child.kill(signal);
      return ended;
    },
    ended,
  };
}

function launch(main: string, args: readonly string[], env: Environment) {
  const child = spawn(main, args, {
    env: {
      PATH: process.env["PATH"],
      // A program unpacked in a folder of its own would leave its modules there for ever.
      ...((main === MAIN || main === SOURCES) && {
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        ...mutationSettings(),
      }),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  let printed = "";
  let errors = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (stream === child.stderr) errors += chunk;
      else printed += chunk;
    });
  }
  running.add(child);
  child.once("exit", () => running.delete(child));
  return { child, output: () => text, printed: () => printed, errors: () => errors };
}
