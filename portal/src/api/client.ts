/** The public API, typed by its document (`npm run openapi` writes schema.d.ts). */
import createClient, { type Middleware } from "openapi-fetch";
import { currentToken, sessionRefused } from "../session/session.ts";
import { apiBase } from "./base.ts";
import type { components, paths } from "./schema.d.ts";

export type Schemas = components["schemas"];
export type Endpoint = Schemas["Endpoint"];
export type EventType = Schemas["EventType"];

/** `network`: no answer. `outage`: the service, or a proxy before it, says that it cannot answer now. */
type ErrorKind = "network" | "outage" | "forbidden" | "absent" | "limited" | "session" | "refused" | "fault";

export class ApiError extends Error {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly issues: readonly Schemas["Issue"][];
  readonly retryAfterS: number | null;

  constructor(status: number, body: unknown, retryAfterS: number | null = null) {
    const { error, issues } = Object(body);
    super(typeof error === "string" ? error : `status ${status}`);
    this.name = "ApiError";
    this.status = status;
    // The service's own 404 has a JSON body. One without is a proxy's, while the service restarts.
    this.kind = status === 404 && body === null ? "outage" : kindOf(status);
    this.issues = Array.isArray(issues) ? issues : [];
    this.retryAfterS = retryAfterS;
  }

  /** Whether the same call may well succeed soon. */
  get isPassing(): boolean {
    return this.kind === "network" || this.kind === "outage";
  }
}

function kindOf(status: number): ErrorKind {
  if (status === 0) return "network";
  if (status === 401) return "session";
  if (status === 403) return "forbidden";
  if (status === 404) return "absent";
  if (status === 429) return "limited";
  if (status === 502 || status === 503 || status === 504) return "outage";
  return status >= 500 ? "fault" : "refused";
}

const session: Middleware = {
  onRequest({ request }) {
    const token = currentToken();
    if (token !== null) request.headers.set("Authorization", `Bearer ${token}`);
    return request;
  },
  async onResponse({ request, response }) {
    if (response.ok) return response;
    if (response.status === 401)
      sessionRefused(request.headers.get("Authorization")?.slice("Bearer ".length) ?? "");
    const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
    const body: unknown = await response.json().catch(() => null);
    throw new ApiError(response.status, body, Number.isFinite(retryAfter) ? retryAfter : null);
  },
  onError({ error }) {
    // An aborted call is no failure of the network.
    if (error instanceof DOMException) throw error;
    throw new ApiError(0, null);
  },
};

export const api = createClient<paths>({ baseUrl: apiBase });
api.use(session);

/** The body of an answer. Calls that fail have thrown an ApiError before. */
export async function bodyOf<Body>(answer: Promise<{ data?: Body }>): Promise<Body> {
  const { data } = await answer;
  if (data === undefined) throw new ApiError(500, { error: "The answer has no body" });
  return data;
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(500, { error: String(error) });
}
