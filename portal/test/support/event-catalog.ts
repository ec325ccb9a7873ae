/** A catalog with versions, schemas, and texts that are no markup. */
import { writeFileSync } from "node:fs";
import { temporaryPath } from "../../../test/support/temporary.ts";

const ORDER = {
  type: "object",
  required: ["order_id", "lines"],
  additionalProperties: false,
  properties: {
    order_id: { type: "string", description: "Never used twice." },
    total: { type: ["number", "null"] },
    state: { enum: ["open", "paid"] },
    lines: { type: "array", items: { $ref: "#/$defs/line" } },
  },
  $defs: { line: { type: "object", required: ["sku"], properties: { sku: { type: "string" } } } },
};

const ENTRIES = [
  {
    type: "order.placed",
    version: 1,
    title: "Order placed",
    description: "An order was placed.",
    group: "Orders",
    payloadShape: { order: "o_1" },
    deprecated: true,
    deprecated_since: "2026-01-15T00:00:00Z",
    sunset: "2099-12-31T00:00:00Z",
  },
  {
    type: "order.placed",
    version: 2,
    title: "Order placed",
    description: "An order was placed, with its lines.",
    group: "Orders",
    payloadShape: { order_id: "o_1", total: 12.5, state: "open", lines: [{ sku: "A-1" }] },
    schema: ORDER,
  },
  {
    type: "order.shipped",
    title: "Order shipped",
    description: "<img src=x onerror=alert(1)> */ \u202Eright to left",
    group: "Orders",
    payloadShape: { order_id: "o_1", "tracking-code": null, parcels: [] },
  },
  {
    type: "customer.merged",
    title: "Customer merged",
    description: "Two customers became one.",
    group: "Customers",
    payloadShape: { from: ["c_1", "c_2"], to: "c_3" },
  },
];

/** Each with its version, as the API answers them. */
export const CATALOG = ENTRIES.map((entry) => Object.assign({ version: 1 }, entry));

/** The path of a file with the catalog. */
export function catalogFile(): string {
  const file = temporaryPath("catalog.json");
  writeFileSync(file, JSON.stringify(ENTRIES));
  return file;
}
