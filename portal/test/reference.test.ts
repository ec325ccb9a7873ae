/** `/reference` in a real browser: its library works under the page's policy, and asks nobody else. */
import assert from "node:assert/strict";
import { it } from "node:test";
import * as z from "zod";
import { describePortal } from "./support/portal.ts";

const document = z.object({
  info: z.object({ title: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), z.object({ operationId: z.string() }))),
});

describePortal("the reference of the API", {}, (portal) => {
  it("shows every operation of the document and opens one, without an error and from this origin alone", async () => {
    const { service } = portal();
    const answer = await service.call("GET", "/openapi.json", { as: null });
    const { info, paths } = document.parse(answer.body);
    const operations = Object.values(paths).flatMap((item) => Object.values(item));

    const url = `${service.url}/reference`;
    const { page, faults } = await portal().open("", { url, isSignedIn: false });
    await page.getByRole("heading", { name: info.title, level: 1 }).waitFor();
    await page.locator("#operations-Endpoints-createEndpoint").waitFor();
    for (const { operationId } of operations)
      assert.equal(await page.locator(`.opblock[id$="-${operationId}"]`).count(), 1, operationId);

    const operation = page.locator("#operations-Endpoints-createEndpoint");
    await operation.getByRole("button").first().click();
    await operation.getByText("secret", { exact: false }).first().waitFor();
    await operation.getByRole("button", { name: "Try it out" }).waitFor();
    assert.deepEqual(faults, []);
  });
});
