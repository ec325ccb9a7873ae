/** Clients generated from the OpenAPI document compile, and work against the running program. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { listDeliveries } from "./support/api.ts";
import { generateTypes, prepareApiTools, runClient, type Language } from "./support/api-tools.ts";
import { OWNER, PRODUCER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;
let why: Record<Language, string | null>;
let env: Record<string, string>;

before(async () => {
  why = await prepareApiTools();
  service = await startTestService();
  env = {
    API_URL: service.url,
    USER_TOKEN: await service.token(OWNER),
    SERVICE_TOKEN: await service.token(PRODUCER),
    RECEIVER_URL: service.receiver.url,
  };
});
after(() => service.stop());

describe("a client generated from the document", () => {
  const generators = [
    ["TypeScript", "openapi-typescript"],
    ["Python", "openapi-python-client"],
    ["Go", "oapi-codegen"],
  ] as const;
  for (const [language, generator] of generators) {
    it(`creates, publishes, lists and reads errors: ${language} by ${generator}`, async (context) => {
      if (why[language] !== null) {
        context.skip(`DID NOT RUN: ${why[language]}`);
        return;
      }
      const told = JSON.parse(await runClient(language, env));
      const log = await listDeliveries(service, told.endpoint_id, "?status=delivered");
      assert.equal(log.length, 1);
      assert.deepEqual(told, {
        endpoint_id: told.endpoint_id,
        secret: "whsec_",
        event_id: log[0]?.event_id,
        delivered: { event_id: log[0]?.event_id, status: "delivered", attempt: 1 },
        unknown: "Not found",
        invalid: { error: "Validation failed", path: ["events", 0] },
      });
    });
  }
});

describe("the portal's types", () => {
  it("are those of the document", async () => {
    await prepareApiTools();
    const file = join(import.meta.dirname, "..", "portal", "src", "api", "schema.d.ts");
    assert.equal(await readFile(file, "utf8"), await generateTypes(), "run npm run openapi");
  });
});
