/** Answers of the service as the page takes them, on a server that answers what each test says. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { after, describe, it } from "node:test";
import { listen } from "../../test/support/tls-receiver.ts";
import { loadModule } from "./support/page.ts";

type ApiError = Error & {
  kind: string;
  isPassing: boolean;
  retryAfterS: number | null;
  issues: readonly unknown[];
};
type Answer = { data?: unknown };
type Client = {
  api: { GET: (path: string, init?: { signal: AbortSignal }) => Promise<Answer> };
  ApiError: new (status: number, body: unknown) => ApiError;
  bodyOf: (answer: Promise<Answer>) => Promise<unknown>;
};

let answer: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => answer(request, response));
const baseUrl = `http://127.0.0.1:${await listen(server)}/hooks/portal/`;
after(() => {
  server.closeAllConnections();
  server.close();
});

const { api, ApiError, bodyOf } = await loadModule<Client>("api/client.ts", { baseUrl });

/** What a call fails with. */
async function faultOf(status: number, body: string, headers = {}): Promise<ApiError> {
  answer = (_request, response) => response.writeHead(status, headers).end(body);
  const fault: unknown = await api.GET("/api/webhooks").catch((error: unknown) => error);
  assert.ok(fault instanceof ApiError);
  return fault;
}

describe("a call that fails", () => {
  it("says by its status what is the matter, and whether it may soon succeed", async () => {
    const kinds: Record<string, [number, string][]> = {
      refused: [
        [400, "{}"],
        [409, "{}"],
      ],
      session: [[401, "{}"]],
      forbidden: [[403, "{}"]],
      absent: [[404, "{}"]],
      limited: [[429, "{}"]],
      fault: [
        [500, "{}"],
        [501, "{}"],
      ],
      outage: [
        [502, ""],
        [503, "{}"],
        [504, "<html>"],
        // A proxy's, not the service's.
        [404, "404 page not found"],
      ],
    };
    for (const [kind, answers] of Object.entries(kinds))
      for (const [status, body] of answers) {
        const fault = await faultOf(status, body);
        assert.equal(fault.kind, kind, `${status} ${body}`);
        assert.equal(fault.isPassing, kind === "outage", kind);
      }
  });

  it("has the service's own words and issues, or else its status", async () => {
    const issues = [{ path: "url", message: "too long" }];
    const told = await faultOf(400, JSON.stringify({ error: "Invalid", issues }));
    assert.deepEqual([told.message, told.issues], ["Invalid", issues]);
    const other = await faultOf(400, '{"error":{"code":1},"issues":"many"}');
    assert.deepEqual([other.message, other.issues], ["status 400", []]);
  });

  it("says when to try again where that is a number of seconds", async () => {
    for (const [given, expected] of [
      [{ "Retry-After": "5" }, 5],
      [{ "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT" }, null],
      [{}, null],
    ] as const)
      assert.equal((await faultOf(429, "{}", given)).retryAfterS, expected);
  });

  it("has no status where nobody answers, and may soon succeed", async () => {
    answer = (request) => request.socket.destroy();
    await assert.rejects(api.GET("/api/webhooks"), { kind: "network", isPassing: true });
  });

  it("is none of the network where it was taken back", async () => {
    const end = new AbortController();
    answer = () => end.abort();
    await assert.rejects(api.GET("/api/webhooks", { signal: end.signal }), { name: "AbortError" });
  });

  it("is one without a body too, where one is needed", async () => {
    await assert.rejects(bodyOf(Promise.resolve({})), { kind: "fault" });
    assert.deepEqual(await bodyOf(Promise.resolve({ data: null })), null);
  });
});
