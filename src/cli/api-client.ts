/** Calls to the API of a running Postern, for commands that sign their own session. */
import { issueToken } from "../api/session-token.ts";
import type { Config } from "../config.ts";
import { ConfigError } from "../shared/config-error.ts";
import { ownHost } from "../shared/own-host.ts";
import { readCommandConfig } from "./command-config.ts";
import { messageOf } from "./mistakes.ts";

const TOKEN_LIFE_MS = 60_000;

export const URL_ARGUMENT = {
  type: "string",
  description: "Where Postern is; default: HOST, PORT and BASE_PATH of the settings",
} as const;

export type ApiClient = {
  /**
   * The answer's body as text; an answer that is no success ends the command with it.
   *
   * @param json the body, as JSON text.
   */
  call(method: string, path: string, json?: string): Promise<string>;
};

/** @param claims of the session that the calls have; each call signs it anew. */
export async function openApiClient(
  claims: { type: string; tid: string } & ({ permissions: string[] } | { role: string }),
  givenUrl: string | undefined,
): Promise<ApiClient> {
  const config = await readCommandConfig();
  const { session } = config;
  if (session.kind !== "secret") {
    throw new ConfigError("this command signs its own token and so needs SESSION_JWT_SECRET");
  }
  const url = givenUrl ?? addressOf(config);
  return {
    async call(method, path, json) {
      const token = await issueToken(session.secret, { sub: "cli", ...claims }, TOKEN_LIFE_MS);
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(json === undefined ? {} : { body: json }),
      }).catch((error: unknown) => {
        throw new ConfigError(
          `no answer from ${url}: ${reasonOf(error)}\nStart Postern there, or name its address with --url.`,
        );
      });
      const text = await answer.text();
      if (answer.status === 401) throw new ApiRefusalError(text, unauthorizedHint(url, answer.headers));
      if (!answer.ok) throw new ApiRefusalError(text);
      return text;
    },
  };
}

/** `fetch` says only that it failed; why is in its cause. */
export function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
}

/** The answer says no more than "Unauthorized", which is right for strangers and too little for an operator. */
function unauthorizedHint(url: string, headers: Headers): string {
  const reason = /error_description="([^"]*)"/.exec(headers.get("www-authenticate") ?? "")?.[1];
  const why = reason === undefined ? "" : ` (${reason})`;
  return `${url} does not accept this command's token${why}. Run the command with the SESSION_JWT_SECRET of that Postern, or name another with --url.`;
}

/** What the API said no with, to be printed as it is. */
export class ApiRefusalError extends Error {
  override readonly name = "ApiRefusalError";
  readonly hint: string | null;

  constructor(answer: string, hint: string | null = null) {
    super(answer);
    this.hint = hint;
  }
}

/** Prints a refusal as the API gave it, for whoever reads it by program, and a hint for people on standard error. */
export async function printingRefusals(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ApiRefusalError)) throw error;
    console.log(error.message);
    if (error.hint !== null) console.error(error.hint);
    process.exitCode = 1;
  }
}

/** Where a service with these settings is reached from this machine. */
export function addressOf({ host, port, basePath }: Pick<Config, "host" | "port" | "basePath">): string {
  return `http://${ownHost(host)}:${port}${basePath}`;
}
