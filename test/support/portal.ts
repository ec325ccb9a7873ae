/** Sessions of the portal, as the operator's backend has them made. */
import assert from "node:assert/strict";
import * as z from "zod";
import { codeAnswer, tokenObject } from "../../src/api/portal-schemas.ts";
import type { ApiAnswer, Claims } from "./calls.ts";
import type { TestService } from "./service.ts";

/** The operator's backend, with every permission that only it has. */
export const OPERATOR: Claims = {
  type: "service",
  tid: "*",
  sub: "console",
  permissions: ["portal:grant", "tenants:read", "tenants:act", "tenants:erase"],
};

export const GRANT = { tenant_id: "acme", sub: "jo", role: "admin" };

/** The code that the answer's URL has in its fragment. */
export function codeOf(answer: ApiAnswer): string {
  assert.equal(answer.status, 201, answer.text);
  const { hash } = new URL(codeAnswer.parse(answer.body).url);
  return z.templateLiteral(["#code=", z.string()]).parse(hash).slice("#code=".length);
}

export async function openPortal(service: TestService, grant: object = {}) {
  const json = { ...GRANT, ...grant };
  const code = codeOf(await service.call("POST", "/api/portal/codes", { as: OPERATOR, json }));
  return tokenOf(await swap(service, code));
}

export function swap(service: TestService, code: string): Promise<ApiAnswer> {
  return service.call("POST", "/api/portal/sessions", { as: null, json: { code } });
}

export function tokenOf(answer: ApiAnswer): z.infer<typeof tokenObject> {
  assert.ok(answer.status === 200 || answer.status === 201, answer.text);
  return tokenObject.parse(answer.body);
}

/** A call with a token as it is. */
export function callWith(
  service: TestService,
  token: string,
  [method, path]: readonly [method: string, path: string],
  json?: unknown,
): Promise<ApiAnswer> {
  const headers = { authorization: `Bearer ${token}` };
  return service.call(method, path, { as: null, headers, ...(json === undefined ? {} : { json }) });
}
