import type { CatalogEntry } from "./catalog-entry.ts";

type Group = "Invoices" | "Payments" | "Customers" | "Documents" | "Postern";

function entry(
  group: Group,
  type: string,
  title: string,
  about: [string, Record<string, unknown>],
): CatalogEntry {
  const isNot = { preview: false, deprecated: false };
  return { type, version: 1, title, description: about[0], group, payloadShape: about[1], ...isNot };
}

const invoice = { invoice_id: "inv_1042", customer_id: "cus_77", amount: 129_00, currency: "EUR" };
const payment = { payment_id: "pay_311", invoice_id: "inv_1042", amount: 129_00, currency: "EUR" };
const customer = { customer_id: "cus_77", name: "Ada Works", email: "billing@example.com" };
const document = { document_id: "doc_9", title: "Offer 2031", pages: 4 };

/** A billing and document application's events, for a start without EVENT_CATALOG. */
export const builtInCatalog: readonly CatalogEntry[] = [
  entry("Invoices", "invoice.created", "Invoice created", ["An invoice was drawn up.", invoice]),
  entry("Invoices", "invoice.sent", "Invoice sent", ["An invoice went out to its customer.", invoice]),
  entry("Invoices", "invoice.paid", "Invoice paid", [
    "An invoice was paid in full.",
    { ...invoice, paid_at: "2026-01-31T09:30:00.000Z" },
  ]),
  entry("Invoices", "invoice.overdue", "Invoice overdue", [
    "An invoice passed its due date unpaid.",
    { ...invoice, due_on: "2026-01-31", days_overdue: 3 },
  ]),
  entry("Payments", "payment.succeeded", "Payment succeeded", ["A payment was collected.", payment]),
  entry("Payments", "payment.failed", "Payment failed", [
    "A payment could not be collected.",
    { ...payment, reason: "card_declined" },
  ]),
  entry("Payments", "payment.refunded", "Payment refunded", ["A payment was returned.", payment]),
  entry("Customers", "customer.created", "Customer created", ["A customer was added.", customer]),
  entry("Customers", "customer.updated", "Customer updated", [
    "A customer's details changed.",
    { ...customer, changed: ["email"] },
  ]),
  entry("Documents", "document.uploaded", "Document uploaded", ["A document was stored.", document]),
  entry("Documents", "document.signed", "Document signed", [
    "Every party has signed a document.",
    { ...document, signed_by: ["cus_77"] },
  ]),
  entry("Documents", "document.deleted", "Document deleted", ["A document was removed.", document]),
];

/** Of a member of an own event: its example, and its schema. */
type Member = [example: unknown, schema: Record<string, unknown>];

/** All members are always there. */
function own(
  type: string,
  [title, description]: [string, string],
  members: Record<string, Member>,
): CatalogEntry {
  const of = (which: 0 | 1) =>
    Object.fromEntries(Object.entries(members).map(([name, member]) => [name, member[which]]));
  const schema = { type: "object", required: Object.keys(members), properties: of(1) };
  return { ...entry("Postern", type, title, [description, of(0)]), schema };
}

const text = { type: "string" };
const id = { type: "string", format: "uuid" };
const time = { type: "string", format: "date-time" };
const whole = { type: "integer", minimum: 0 };
const oneOf = (...values: string[]) => ({ type: "string", enum: values });

const endpointMembers: Record<string, Member> = {
  endpoint_id: ["019a2f00-0000-7000-8000-000000000000", id],
  url: ["https://hooks.example.com/postern", text],
};
const artifact: Record<string, Member> = {
  object_id: ["019a2f00-0000-7000-8000-000000000002", id],
  delivery_id: [
    "019a2f00-0000-7000-8000-000000000001",
    { ...id, description: "For an export, the export's id." },
  ],
  attempt: [1, { type: "integer", minimum: 1 }],
  kind: ["export", oneOf("export", "request_body", "response_body")],
};

/** What Postern itself announces to a tenant; in every catalog. */
export const serviceEvents: readonly CatalogEntry[] = [
  own(
    "endpoint.failing",
    [
      "Endpoint failing",
      "Nothing could be delivered to an endpoint for an hour, or for half of DISABLE_AFTER.",
    ],
    {
      ...endpointMembers,
      failing_since: ["2026-01-31T08:30:00.000Z", time],
      disabled_after: [
        "2026-02-05T08:30:00.000Z",
        { ...time, description: "The first failure after this disables the endpoint." },
      ],
    },
  ),
  own(
    "endpoint.recovered",
    ["Endpoint recovered", "An attempt succeeded at an endpoint of which endpoint.failing was told."],
    { ...endpointMembers, failing_since: ["2026-01-31T08:30:00.000Z", time] },
  ),
  own(
    "endpoint.disabled",
    ["Endpoint disabled", "An endpoint was disabled because it answered 410 or only failed for days."],
    { ...endpointMembers, reason: ["failing", oneOf("failing", "gone")] },
  ),
  own(
    "delivery.exhausted",
    [
      "Delivery exhausted",
      "The last automatic attempt of one or more events failed at an endpoint. At most once a minute for an endpoint.",
    ],
    {
      ...endpointMembers,
      count: [
        3,
        { type: "integer", minimum: 1, description: "Such events of the endpoint since the last notice." },
      ],
      delivery_id: ["019a2f00-0000-7000-8000-000000000004", { ...id, description: "Of the newest of them." }],
      event_id: ["019a2f00-0000-7000-8000-000000000005", id],
      event_type: ["invoice.paid", text],
    },
  ),
  own(
    "replay.finished",
    [
      "Replay finished",
      "All events of a replay were sent to their endpoint again, or it was deleted meanwhile.",
    ],
    {
      replay_id: ["019a2f00-0000-7000-8000-000000000003", id],
      endpoint_id: ["019a2f00-0000-7000-8000-000000000000", id],
      status: ["finished", oneOf("finished", "failed")],
      sent: [812, whole],
      delivered: [810, whole],
      failed: [2, whole],
      skipped: [0, whole],
    },
  ),
  own("storage.export.ready", ["Export ready", "An export of the delivery log can be downloaded."], {
    export_id: ["019a2f00-0000-7000-8000-000000000001", id],
    object_id: ["019a2f00-0000-7000-8000-000000000002", id],
    expires_at: ["2026-02-28T00:00:00.000Z", time],
  }),
  own(
    "storage.object.missing",
    ["Stored object missing", "A stored artifact is no longer in the object store."],
    artifact,
  ),
  own(
    "storage.object.quarantined",
    [
      "Stored object quarantined",
      "A stored artifact's bytes were replaced by others. It cannot be downloaded.",
    ],
    artifact,
  ),
  own(
    "storage.object.healed",
    [
      "Stored object healed",
      "A stored artifact that was missing or quarantined is as it was, and can be downloaded again.",
    ],
    artifact,
  ),
];

export function isServiceType(type: string): boolean {
  return serviceEvents.some((event) => event.type === type);
}
