/** An API that says what its test tells it to, for the words of commands: what the real one seldom says, or takes long to. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { decodeJwt, type JWTPayload } from "jose";
import { makeSecrets, type Environment } from "../../src/config.ts";
import { runHere, type Ran } from "./command.ts";
import { listen } from "./tls-receiver.ts";

type Answer = { status?: number; headers?: Record<string, string>; json?: unknown; text?: string };
/** `text` is the body as it came. */
export type Asked = { call: string; json: unknown; text: string; session: JWTPayload };

export async function startPretendedApi() {
  let left: Answer[] = [];
  let asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      asked.push({
        call: `${request.method} ${request.url}`,
        json: body === "" ? null : JSON.parse(body),
        text: body,
        session: sessionOf(request.headers.authorization),
      });
      const {
        status = 200,
        headers = {},
        json,
        text = JSON.stringify(json),
      } = left.shift() ?? { status: 599, text: "" };
      response.writeHead(status, headers).end(text);
    });
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const env: Environment = { ...makeSecrets(), DATA_DIR: "/nowhere" };
  return {
    url,
    env,
    close: () => server.close(),
    /** Runs a command where the API gives these answers, one after the other; says what it was asked too. */
    async run(words: readonly string[], answers: readonly Answer[]): Promise<Ran & { asked: Asked[] }> {
      left = [...answers];
      asked = [];
      return { ...(await runHere([...words, "--url", `${url}/`], env)), asked };
    },
  };
}

/** None of a call that anybody may make, as of `/ready`. */
function sessionOf(authorization: string | undefined): JWTPayload {
  return authorization === undefined ? {} : decodeJwt(authorization.replace("Bearer ", ""));
}

export const callsOf = (asked: readonly Asked[]): string[] => asked.map(({ call }) => call);

/** The session of each call, less its time, which is short. */
export function sessionsOf(asked: readonly Asked[]): object[] {
  return asked.map(({ session }) => {
    const { exp = Infinity, iat = 0, ...claims } = session;
    assert.ok(exp - Math.max(iat, Math.floor(Date.now() / 1000) - 5) <= 66);
    return claims;
  });
}

/** Of a command for the tenant `acme`. */
export const userOf = (role: string) => ({ type: "user", tid: "acme", sub: "cli", role });
