/** The program as an operator runs it: `node src/main.ts …` in a process of its own, its output kept. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";
import type { Environment } from "../../src/config.ts";
import { eventually } from "./service.ts";

const MAIN = join(import.meta.dirname, "..", "..", "src", "main.ts");

export type Program = {
  /** Everything written to standard output and standard error so far. */
  output(): string;
  /** Resolves with the exit code once the process has ended. */
  ended: Promise<number | null>;
  /** The address that its log says it listens on. */
  address(): Promise<string>;
  stop(): Promise<number | null>;
};

const startedLine = z.object({ msg: z.literal("started"), address: z.string() });

/** Starts a command with this environment and no other setting of ours. */
export function startProgram(args: readonly string[], env: Environment): Program {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (bytes: Buffer) => {
      output += bytes.toString("utf8");
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    output: () => output,
    ended,
    async address() {
      const line = await eventually(async () => {
        if (child.exitCode !== null) throw new Error(`the program ended: ${output}`);
        return output
          .split("\n")
          .map(started)
          .find((found) => found !== null);
      });
      return line.address;
    },
    async stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

function started(line: string): z.infer<typeof startedLine> | null {
  try {
    return startedLine.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
