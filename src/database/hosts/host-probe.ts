/** A connection of its own to one host of a list, to ask how it is. */
import { Client } from "pg";
import { cutOff } from "../cut-off.ts";
import { ConnectionRefusedError } from "./host-errors.ts";
import { type AnswerRow, type HostAnswer, QUESTION, readAnswer } from "./host-answer.ts";
import type { Host } from "./host-list.ts";
import { connectTo } from "../session-settings.ts";

/** So that an operator who looks at sessions sees that these ask and write nothing. */
const APPLICATION_NAME = "postern host check";

export type HostReport = { kind: "answer"; answer: HostAnswer } | { kind: "error"; error: unknown };

/** What is said of a client that asks and is not answered in time; ask one that waits for no other answer. */
export async function askClient(client: Client, limitMs: number): Promise<HostAnswer> {
  const timer = setTimeout(() => cutOff(client, silence()), limitMs);
  try {
    const { rows } = await client.query<AnswerRow>(QUESTION);
    const [row] = rows;
    if (row === undefined) throw silence();
    return readAnswer(row);
  } finally {
    clearTimeout(timer);
  }
}

export class HostProbe {
  readonly host: Host;
  /** How `pg` reaches it. */
  readonly address: { host: string; port: number };
  #client: Client | null = null;
  #asking: Promise<HostReport> | null = null;

  constructor(host: Host) {
    this.host = host;
    const { host: name, port } = new Client({ connectionString: host.url });
    this.address = { host: name, port };
  }

  /** Never rejects. Who asks while it is being asked gets the same answer. The connection stays open until {@link close}. */
  ask(limitMs: number): Promise<HostReport> {
    this.#asking ??= this.#ask(limitMs).finally(() => (this.#asking = null));
    return this.#asking;
  }

  isAsked(): boolean {
    return this.#asking !== null;
  }

  async #ask(limitMs: number): Promise<HostReport> {
    try {
      this.#client ??= await this.#open(limitMs);
      return { kind: "answer", answer: await askClient(this.#client, limitMs) };
    } catch (error) {
      this.#end();
      return { kind: "error", error };
    }
  }

  /** Ends the connection, unless a caller waits for an answer on it. */
  close(): void {
    if (this.#asking === null) this.#end();
  }

  #end(): void {
    const last = this.#client;
    this.#client = null;
    if (last !== null) void last.end().catch(() => undefined);
  }

  async #open(limitMs: number): Promise<Client> {
    const client = new Client({
      ...connectTo(this.host.url, undefined),
      application_name: APPLICATION_NAME,
      connectionTimeoutMillis: limitMs,
    });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }
}

function silence(): Error {
  return new ConnectionRefusedError("the server does not answer");
}
