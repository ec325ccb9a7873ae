/** With OPERATOR_TENANT, the operator's own endpoints are told of what Postern tells any tenant. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { OTHER_OWNER, type Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { publish, webhooksOf } from "./support/webhooks.ts";

const OPERATOR_OWNER: Claims = { type: "user", tid: "ops", sub: "sam", role: "owner" };
let service: TestService;

before(async () => {
  service = await startTestService({
    env: { OPERATOR_TENANT: "ops", RETRY_SCHEDULE: "0s" },
    respond: ({ path }) => ({ status: path.startsWith("/gone") ? 410 : 200 }),
  });
});
after(() => service.stop());

const noticesAt = (path: string) =>
  service.receiver.requests
    .filter((request) => request.path === path)
    .map(({ body }) => Object(JSON.parse(body.toString())));

it("is told of every tenant's endpoint that is disabled, once, and of its own as it is", async () => {
  const { origin: url } = new URL(service.receiver.url);
  for (const [as, path] of [
    [OPERATOR_OWNER, "/ops"],
    [undefined, "/acme"],
    [OTHER_OWNER, "/globex"],
  ] as const)
    await webhooksOf(service, as).create({ url: `${url}${path}`, events: ["endpoint.disabled"] });
  const doomed = await webhooksOf(service).create({ url: `${url}/gone`, events: ["invoice.paid"] });
  await publish(service, { type: "invoice.paid" });
  await eventually(async () => noticesAt("/ops").length === 1 && noticesAt("/acme").length === 1);
  const data = { endpoint_id: doomed.endpoint.id, url: `${url}/gone`, reason: "gone" };
  const [[copy], [own]] = [noticesAt("/ops"), noticesAt("/acme")];
  assert.deepEqual([copy.event, copy.data], ["endpoint.disabled", { tenant_id: "acme", ...data }]);
  assert.deepEqual([own.event, own.data], ["endpoint.disabled", data]);
  assert.notEqual(copy.id, own.id);

  const operators = await webhooksOf(service, OPERATOR_OWNER).create({ url: `${url}/gone/2` });
  await publish(
    service,
    { type: "invoice.paid" },
    { ...OPERATOR_OWNER, type: "service", permissions: ["events:write"] },
  );
  await eventually(async () => noticesAt("/ops").length === 2);
  const { data: second } = noticesAt("/ops")[1];
  assert.deepEqual(second, { endpoint_id: operators.endpoint.id, url: `${url}/gone/2`, reason: "gone" });
  // What one tenant's event came to is there for it and the operator alone.
  assert.deepEqual([noticesAt("/globex").length, noticesAt("/acme").length], [0, 1]);
});
