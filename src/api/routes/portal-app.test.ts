import assert from "node:assert/strict";
import { before, it } from "node:test";
import { fastify } from "fastify";
import { buildPortal } from "../../../tools/portal.ts";
import { portalAppRoutes } from "./portal-app.ts";

before(async () => {
  await buildPortal(() => undefined);
});

async function ancestorsOf(portalFrameAncestors: string[]): Promise<string[] | undefined> {
  const app = fastify();
  portalAppRoutes(app, { portalFrameAncestors }, "");
  const { headers } = await app.inject("/");
  const policy = String(headers["content-security-policy"]).split("; ");
  return policy
    .find((part) => part.startsWith("frame-ancestors "))
    ?.split(" ")
    .slice(1);
}

it("nobody may frame the portal but the pages that the operator names", async () => {
  assert.deepEqual(await ancestorsOf([]), ["'none'"]);
  const pages = ["https://app.example.com", "https://admin.example.com"];
  assert.deepEqual(await ancestorsOf(pages), pages);
});
