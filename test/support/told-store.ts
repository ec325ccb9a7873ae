/** An object store whose answers a test tells it: those too that no store at hand gives. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { makeS3Bucket } from "../../src/storage/bytes/s3-bucket.ts";
import { CREDENTIALS } from "./versitygw.ts";

export type Told = {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** The connection ends before the answer does. */
  breaks?: boolean;
  /** The answer's end comes no sooner. */
  until?: Promise<void>;
  /** No answer comes. */
  silent?: boolean;
};

type Asked = { line: string; headers: IncomingMessage["headers"]; body: string };

/** Whatever it was told nothing for, it answers with 200 and nothing. Gives this process a credential. */
export async function startToldStore() {
  Object.assign(process.env, CREDENTIALS);
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const endpoint = `http://127.0.0.1:${address.port}`;
  const bucket = await makeS3Bucket({ bucket: "artifacts", region: "us-east-1", endpoint });

  const store = {
    server,
    bucket,
    answers: new Array<Told>(),
    asked: new Array<Asked>(),
    /** Method and path of what was asked, with the parameters that are named. */
    lines(...names: string[]): string[] {
      return store.asked.map(({ line }) => {
        const [method = "", url = ""] = line.split(" ");
        const { pathname, searchParams } = new URL(url, "http://store");
        const found = names.filter((name) => searchParams.has(name));
        return [`${method} ${pathname}`, ...found.map((name) => `${name}=${searchParams.get(name)}`)].join(
          " ",
        );
      });
    },
    reset(): void {
      store.answers = [];
      store.asked = [];
    },
    close(): void {
      bucket.close();
      server.close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    store.asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    const told = store.answers.shift() ?? {};
    if (told.silent === true) return;
    response.writeHead(told.status ?? 200, { "content-type": "application/xml", ...told.headers });
    const whole = told.body ?? "";
    if (told.until !== undefined) {
      response.write(whole.slice(0, 2));
      await told.until;
      response.end(whole.slice(2));
    } else if (told.breaks === true) response.write(whole, () => response.destroy());
    else response.end(whole);
  }

  return store;
}

export type ToldStore = Awaited<ReturnType<typeof startToldStore>>;

/** An answer that is tried once: the adapter tries again only what a store may do better. */
export function refusal(code: string, status: number): Told {
  return { status, body: `<Error><Code>${code}</Code><Message>the reason</Message></Error>` };
}
