/** Calls of the demonstration to its own API. */

/** Answers the body. Throws where the call is refused. */
export type CallApi = (method: "POST" | "PATCH", path: string, json: unknown) => Promise<unknown>;

/** @param sign makes a token for one call. */
export function makeCall(apiUrl: string, sign: () => Promise<string>): CallApi {
  return async (method, path, json) => {
    const headers = { authorization: `Bearer ${await sign()}` };
    const init: RequestInit = { method, headers, body: JSON.stringify(json) };
    const answer = await fetch(`${apiUrl}${path}`, init);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
}
