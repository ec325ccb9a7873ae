import assert from "node:assert/strict";
import { it } from "node:test";
import { completed } from "../../../test/support/store-inputs.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newDeliveryId, newEndpointId, newEventId } from "../../shared/id.ts";
import { distinctSets, HeaderSets } from "./header-sets.ts";

it("stores a set once for each tenant that uses it, since its id follows from its text alone", () => {
  const stored = ["acme", "globex", "acme"].map((name) => ({
    set: { tenantId: tenant(name), id: "one", text: "{}" },
    values: null,
    requestHeaders: null,
    responseHeaders: null,
  }));
  const bare = { set: null, values: null, requestHeaders: "{}", responseHeaders: null };
  assert.deepEqual(
    distinctSets([...stored, bare]).map(({ tenantId, id }) => [tenantId, id]),
    [
      ["acme", "one"],
      ["globex", "one"],
    ],
  );
});

it("keeps an answer's headers in their row where they are longer than any set should be", () => {
  const ids = { endpointId: newEndpointId(), eventId: newEventId(), leasedId: newDeliveryId() };
  const rows = { tenantId: tenant("acme"), ...ids };
  const pack = (server: string) =>
    new HeaderSets().pack({
      ...completed(rows),
      requestHeaders: { "user-agent": "postern" },
      responseHeaders: { server },
    });
  assert.equal(pack("short").responseHeaders, null);
  const long = { server: "x".repeat(3000) };
  const { set, responseHeaders } = pack(long.server);
  assert.deepEqual(JSON.parse(responseHeaders ?? ""), long);
  assert.ok(set !== null && !set.text.includes("xxx"));
});
