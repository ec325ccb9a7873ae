/** The examples of `receivers/`: built where their language is installed, and run as a reader would run them. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { folderOf, prepareTool, type Tell } from "./prepared-tool.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";

const RECEIVERS = join(import.meta.dirname, "..", "..", "receivers");

type Example = {
  /** Shows that the language is installed. */
  probe: string[];
  /** `built` is the folder of `build`'s output. */
  run: (built: string, port: number) => string[];
  build?: (built: string) => string[];
};

const folder = (language: string): string => join(RECEIVERS, language);

const EXAMPLES = {
  node: { probe: [process.execPath, "--version"], run: () => [process.execPath, "receiver.mjs"] },
  python: { probe: ["python3", "--version"], run: () => ["python3", "receiver.py"] },
  go: {
    probe: ["go", "version"],
    build: (built) => ["go", "build", "-C", folder("go"), "-o", join(built, "receiver")],
    run: (built) => [join(built, "receiver")],
  },
  java: {
    probe: ["javac", "-version"],
    build: (built) => ["javac", "-d", built, join(folder("java"), "Receiver.java")],
    run: (built) => ["java", "-cp", built, "Receiver"],
  },
  rust: {
    probe: ["cargo", "--version"],
    build: (built) =>
      [
        ["cargo", "build", "--locked", "--quiet", "--target-dir", built],
        ["--manifest-path", join(folder("rust"), "Cargo.toml")],
      ].flat(),
    run: (built) => [join(built, "debug", "receiver")],
  },
  ruby: {
    probe: ["rackup", "--version"],
    run: (_, port) => ["rackup", "--host", "127.0.0.1", "--port", String(port)],
  },
  php: {
    probe: ["php", "--version"],
    run: (_, port) => ["php", "-S", `127.0.0.1:${port}`, "receiver.php"],
  },
  csharp: {
    probe: ["dotnet", "--version"],
    build: (built) => ["dotnet", "build", folder("csharp"), "--output", built],
    run: (built) => ["dotnet", join(built, "receiver.dll")],
  },
} satisfies Record<string, Example>;

export type Language = keyof typeof EXAMPLES;
export const LANGUAGES = Object.keys(EXAMPLES).filter((name): name is Language => name in EXAMPLES);

/** Builds it where it is not there yet. Null when it can run, else why not. */
export function prepareExample(language: Language, tell: Tell): string | null {
  const { probe, build }: Example = EXAMPLES[language];
  const [command = "", ...args] = probe;
  if (spawnSync(command, args).status !== 0) return `${command} is not installed`;
  if (build === undefined) return null;
  return prepareTool(
    {
      name: buildName(language),
      notice: `Building the example receiver in ${language} (once, some seconds) …`,
      bring(built) {
        const [builder = "", ...words] = build(built);
        return [{ command: builder, args: words }];
      },
    },
    tell,
  );
}

/** Changes with the sources, so that others are built anew. */
function buildName(language: Language): string {
  const hash = createHash("sha256");
  for (const file of globSync(join(folder(language), "**/*.*")).toSorted()) hash.update(readFileSync(file));
  return `receiver-${language}-${hash.digest("hex").slice(0, 12)}`;
}

export type ExampleReceiver = {
  port: number;
  /** How often it said that it accepted this event. */
  accepted(eventId: string): number;
  stop(): Promise<void>;
};

/** Call {@link prepareExample} first. */
export async function startExample(language: Language, secrets: readonly string[]): Promise<ExampleReceiver> {
  const port = await freePort();
  const { run }: Example = EXAMPLES[language];
  const [command = "", ...args] = run(folderOf({ name: buildName(language) }), port);
  const child = spawn(command, args, {
    cwd: folder(language),
    env: { ...process.env, PORT: String(port), WEBHOOK_SECRETS: secrets.join(" ") },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  const exited = once(child, "exit");
  process.once("exit", () => child.kill("SIGKILL"));
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the receiver in ${language} ended at once`);
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isOpen;
  });
  return {
    port,
    accepted: (eventId) => output.split(`accepted ${eventId}`).length - 1,
    async stop() {
      child.kill();
      await exited;
    },
  };
}
