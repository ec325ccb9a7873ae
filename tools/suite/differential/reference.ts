/** The Python reference as a process that answers one line for each line. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Reference {
  /** Answers one question, a line of JSON. */
  ask(question: string): Promise<string>;
}

export class ReferenceProcess implements Reference {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  #complaint = "";

  constructor(python: string, suiteRoot: string) {
    this.#child = spawn(python, [join(suiteRoot, "validate.py"), "--differential"], {
      env: { ...process.env, PYTHONHASHSEED: "0", PYTHONIOENCODING: "utf-8" },
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#waiting.shift()?.resolve(line));
    this.#child.stderr.on("data", (data) => (this.#complaint += String(data)));
    // Writing to a process that died fails too; its end is what is reported.
    this.#child.stdin.on("error", () => {});
    this.#child.on("error", (error) => this.#failAll(error.message));
    this.#child.on("close", () => this.#failAll(this.#complaint));
  }

  /** Answers come in the order of the questions. */
  async ask(question: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin.write(`${question}\n`);
    });
  }

  close(): void {
    this.#child.stdin.end();
  }

  #failAll(why: string): void {
    const last = why.trim().split("\n").at(-1) ?? "";
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(`the reference ended: ${last}`));
  }
}
