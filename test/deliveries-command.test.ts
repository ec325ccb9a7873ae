/** `postern deliveries` on a real log. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runHere } from "./support/command.ts";
import { eventually } from "./support/eventually.ts";
import { steered } from "./support/receivers.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { publish, webhooksOf } from "./support/webhooks.ts";

const receiver = steered();
let service: TestService;
before(async () => {
  service = await startTestService({ respond: receiver.respond, env: { RETRY_SCHEDULE: "0s" } });
});
after(() => service.stop());

async function deliveries(...words: string[]) {
  const { code, printed, errors } = await runHere(
    ["deliveries", "--tenant", "acme", "--url", service.url, ...words],
    service.env,
  );
  return { code, errors, lines: printed.trimEnd().split("\n"), printed };
}

describe("postern deliveries", () => {
  it("finds all of a page's end and beyond, each once, and shows one", async () => {
    const webhooks = webhooksOf(service);
    const { endpoint } = await webhooks.create({ events: ["invoice.*"] });
    receiver.answer = () => ({ status: 500 });
    await publish(service, { type: "invoice.paid" });
    await webhooks.waitFor(endpoint.id, "failed");
    receiver.answer = () => ({ status: 204 });
    for (let n = 0; n < 120; n++) await publish(service, { type: "invoice.paid" });
    await eventually(
      async () => (await deliveries("--status", "delivered", "--limit", "200")).lines.length === 120,
    );

    const all = await deliveries("--limit", "1000");
    assert.equal(all.code, 0, all.errors);
    const ids = all.lines.map((line) => line.split("  ").at(-1) ?? "");
    assert.deepEqual([ids.length, new Set(ids).size], [121, 121]);
    assert.match(
      all.lines.at(-1) ?? "",
      /^\S+Z {2}failed {5}500 in \d+ ms +attempt 1 {2}invoice\.paid {2}\S+$/,
    );

    const failed = await deliveries("--response", "5xx", "--type", "invoice.*", "--endpoint", endpoint.id);
    assert.deepEqual(failed.lines, all.lines.slice(-1));
    const shown = JSON.parse((await deliveries(ids.at(-1) ?? "")).printed);
    assert.deepEqual([shown.status, shown.response_status, shown.endpoint_id], ["failed", 500, endpoint.id]);
    assert.equal(JSON.parse(shown.request_body).event, "invoice.paid");
    assert.deepEqual((await deliveries("--text", "nowhere")).lines, ["no deliveries"]);
    const refused = await deliveries("--status", "lost");
    assert.deepEqual([refused.code, JSON.parse(refused.printed).error], [1, "Invalid query"]);
  });
});
