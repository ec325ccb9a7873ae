/** Calls to the API of a running Postern, for commands that sign their own session or are given a token. */
import * as z from "zod";
import { EXPIRED } from "../../api/session.ts";
import { issueToken } from "../../api/session-token.ts";
import { environment, type Config } from "../../config.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { headerTokenFault } from "../../shared/header-token.ts";
import { ownHost } from "../../shared/own-host.ts";
import { readCommandConfig } from "../command-config.ts";
import { NoAnswerError, StrangeAnswerError } from "../command-errors.ts";
import { printable } from "../printable.ts";
import { requireTenantId } from "../require-tenant-id.ts";
import { reasonOf } from "../../shared/message-of.ts";
import { parseJson } from "../../shared/parse-json.ts";
import { withoutSlash } from "../../shared/without-slash.ts";

const TOKEN_LIFE_MS = 60_000;
const OK = 200;
const UNAVAILABLE = 503;
const READY_MS = 5000;
const SHOWN_CHARACTERS = 80;

export const URL_ARGUMENT = {
  type: "string",
  description: "Where Postern is; default: HOST, PORT and BASE_PATH of the settings",
} as const;

const readyAnswer = z.object({ reasons: z.array(z.string()).optional(), warnings: z.array(z.string()) });

export type ApiClient = {
  /**
   * The answer's body as text; an answer that is no success ends the command with it.
   *
   * @param json the body, as JSON text.
   */
  call(method: string, path: string, json?: string, signal?: AbortSignal): Promise<string>;
  /** A page of a list, and the id behind which the next one begins; null on the last. */
  page(path: string): Promise<{ text: string; before: string | null }>;
};

export const TOKEN_VARIABLE = "POSTERN_TOKEN";

/** Calls with the token of the environment; null where there is none. */
export function openGivenClient(givenUrl: string | undefined): ApiClient | null {
  const token = environment()[TOKEN_VARIABLE];
  if (token === undefined) return null;
  // What `fetch` says of such a header has the token in it.
  const fault = headerTokenFault(token);
  if (fault !== null) throw new ConfigError(`${TOKEN_VARIABLE} ${fault}`);
  if (givenUrl === undefined)
    throw new ConfigError(`--url is missing: where the Postern of ${TOKEN_VARIABLE} is`);
  const hint = `the token of ${TOKEN_VARIABLE}`;
  return clientOf(givenUrl, {
    token: async () => token,
    hint,
    remedy: "Set it to a new one.",
  });
}

/** @param claims of the session that the calls have; each call signs it anew. */
export async function openApiClient(
  claims: { type: string; tid: string } & ({ permissions: string[] } | { role: string }),
  givenUrl: string | undefined,
): Promise<ApiClient> {
  // The API would refuse the token, as if it were signed with another secret.
  if (!(claims.type === "service" && claims.tid === "*")) requireTenantId(claims.tid);
  const config = await readCommandConfig();
  const { session } = config;
  if (session.kind !== "secret") {
    throw new ConfigError("this command signs its own token and so needs SESSION_JWT_SECRET");
  }
  return clientOf(givenUrl ?? addressOf(config), {
    token: () => issueToken(session, { sub: "cli", ...claims }, TOKEN_LIFE_MS),
    hint: "this command's token",
    remedy:
      "Run the command with the SESSION_JWT_SECRET (and SESSION_ISSUER, SESSION_AUDIENCE) of that Postern, or name another with --url.",
    remedyOfExpired:
      "It was signed a moment ago, so this machine's clock is behind that of Postern: let both set their clocks by NTP.",
  });
}

type Authentication = {
  token: () => Promise<string>;
  hint: string;
  remedy: string;
  /** Where the token has expired, and that has a reason of its own. */
  remedyOfExpired?: string;
};

function clientOf(givenUrl: string, authentication: Authentication): ApiClient {
  const url = parseAddress(givenUrl);
  const noAnswer = (error: unknown): never => {
    throw new NoAnswerError(`no answer from ${url}: ${reasonOf(error)}`, { cause: error });
  };
  const ask = async (method: string, path: string, json?: string, signal?: AbortSignal) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${await authentication.token()}` },
      ...(json === undefined ? {} : { body: json }),
      ...(signal === undefined ? {} : { signal }),
      // Followed, a POST may become a GET, and the answer to that would pass for its own.
      redirect: "manual",
    }).catch(noAnswer);
    const text = await answer.text().catch(noAnswer);
    const { status } = answer;
    if (isRedirect(status) || parseJson(text) === null)
      throw new StrangeAnswerError(describeStranger(url, answer, text), status);
    if (status === 401)
      throw new ApiRefusalError(text, status, {
        hint: unauthorizedHint(url, answer.headers, authentication),
      });
    if (!answer.ok) throw new ApiRefusalError(text, status, { url });
    return { text, headers: answer.headers };
  };
  return {
    call: async (...given) => (await ask(...given)).text,
    async page(path) {
      const { text, headers } = await ask("GET", path);
      const [, next] = /^<([^>]*)>; rel="next"$/.exec(headers.get("link") ?? "") ?? [];
      return { text, before: next === undefined ? null : new URL(next, url).searchParams.get("before") };
    },
  };
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** What a page, or a proxy that Postern is behind, answers in its place. */
export function describeStranger(url: string, { status, headers }: Response, text: string): string {
  const location = headers.get("location");
  if (isRedirect(status) && location !== null) return `${url} redirects to ${printable(location)}`;
  const begin = text.trim().slice(0, SHOWN_CHARACTERS).toWellFormed();
  return `${url} answered ${status}, and not as Postern does: ${begin === "" ? "the body is empty" : printable(begin)}`;
}

/** An answer's body, for commands that use what is in it. */
export function readAnswer<T>(schema: z.ZodType<T>, text: string): T {
  const read = schema.safeParse(parseJson(text));
  if (read.success) return read.data;
  throw new StrangeAnswerError(
    `the answer is none of this release of Postern: ${z.prettifyError(read.error)}`,
    OK,
    { cause: read.error },
  );
}

/** Where `--url` says that Postern is, without the slash at its end. */
export function parseAddress(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new ConfigError(`--url ${text} is no http or https URL, such as http://127.0.0.1:8080`);
  // Not repeated: it may hold a password, which fetch takes in no URL.
  if (/[?#]|^[^/]*\/\/[^/]*@/.test(text)) throw new ConfigError("--url has a user, a query or a fragment");
  return withoutSlash(text);
}

/** The answer says no more than "Unauthorized", which is right for strangers and too little for an operator. */
function unauthorizedHint(
  url: string,
  headers: Headers,
  { hint, remedy, remedyOfExpired = remedy }: Authentication,
): string {
  const reason = /error_description="([^"]*)"/.exec(headers.get("www-authenticate") ?? "")?.[1];
  const why = reason === undefined ? "" : ` (${reason})`;
  return `${url} does not accept ${hint}${why}. ${reason === EXPIRED ? remedyOfExpired : remedy}`;
}

/** What the API said no with, to be printed as it is. */
export class ApiRefusalError extends Error {
  override readonly name = "ApiRefusalError";
  readonly status: number;
  readonly hint: string | null;
  /** Of the Postern that can be asked for more. */
  readonly url: string | null;

  constructor(
    answer: string,
    status: number,
    { hint = null, url = null }: { hint?: string | null; url?: string | null } = {},
  ) {
    super(answer);
    this.status = status;
    this.hint = hint;
    this.url = url;
  }
}

/** Prints a refusal as the API returned it, for programs, and a hint for people on standard error. */
export async function printingRefusals(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ApiRefusalError)) throw error;
    console.log(error.message);
    const hint = error.hint ?? (await outageHint(error));
    if (hint !== null) console.error(hint);
    process.exitCode = 1;
  }
}

/** A 503 says only that the service is unavailable. What is away, as one of several databases, `/ready` says. */
async function outageHint({ status, url }: ApiRefusalError): Promise<string | null> {
  if (status !== UNAVAILABLE || url === null) return null;
  try {
    const answer = await fetch(`${url}/ready`, { redirect: "manual", signal: AbortSignal.timeout(READY_MS) });
    const { reasons = [], warnings } = readyAnswer.parse(await answer.json());
    const lines = [...reasons, ...warnings].map((line) => printable(`${url}/ready: ${line}`));
    return lines.length === 0 ? null : lines.join("\n");
  } catch {
    return null;
  }
}

/** Where a service with these settings is reached from this machine. */
export function addressOf({ host, port, basePath }: Pick<Config, "host" | "port" | "basePath">): string {
  return `http://${ownHost(host)}:${port}${basePath}`;
}
