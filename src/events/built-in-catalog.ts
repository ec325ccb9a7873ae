import type { CatalogEntry } from "./catalog-entry.ts";

type Group = "Invoices" | "Payments" | "Customers" | "Documents" | "Postern";

function entry(
  group: Group,
  type: string,
  title: string,
  about: [string, Record<string, unknown>],
): CatalogEntry {
  return { type, title, description: about[0], group, payloadShape: about[1], deprecated: false };
}

const invoice = { invoice_id: "inv_1042", customer_id: "cus_77", amount: 129_00, currency: "EUR" };
const payment = { payment_id: "pay_311", invoice_id: "inv_1042", amount: 129_00, currency: "EUR" };
const customer = { customer_id: "cus_77", name: "Ada Works", email: "billing@example.com" };
const artifact = {
  object_id: "019a2f00-0000-7000-8000-000000000002",
  delivery_id: "019a2f00-0000-7000-8000-000000000001",
  attempt: 1,
  kind: "export",
};
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

/** What Postern itself announces to a tenant; in every catalog. */
export const serviceEvents: readonly CatalogEntry[] = [
  entry("Postern", "endpoint.disabled", "Endpoint disabled", [
    "An endpoint was disabled because it answered 410 or only failed for days.",
    {
      endpoint_id: "019a2f00-0000-7000-8000-000000000000",
      url: "https://hooks.example.com/postern",
      reason: "failing",
    },
  ]),
  entry("Postern", "replay.finished", "Replay finished", [
    "All events of a replay were sent to their endpoint again, or it was deleted meanwhile.",
    {
      replay_id: "019a2f00-0000-7000-8000-000000000003",
      endpoint_id: "019a2f00-0000-7000-8000-000000000000",
      status: "finished",
      sent: 812,
      delivered: 810,
      failed: 2,
      skipped: 0,
    },
  ]),
  entry("Postern", "storage.export.ready", "Export ready", [
    "An export of the delivery log can be downloaded.",
    {
      export_id: "019a2f00-0000-7000-8000-000000000001",
      object_id: "019a2f00-0000-7000-8000-000000000002",
      expires_at: "2026-02-28T00:00:00.000Z",
    },
  ]),
  entry("Postern", "storage.object.missing", "Stored object missing", [
    "A stored artifact is no longer in the object store.",
    artifact,
  ]),
  entry("Postern", "storage.object.quarantined", "Stored object quarantined", [
    "Other bytes than those that were stored are in a stored artifact's place. It cannot be downloaded.",
    artifact,
  ]),
  entry("Postern", "storage.object.healed", "Stored object healed", [
    "A stored artifact that was missing or quarantined is as it was, and can be downloaded again.",
    artifact,
  ]),
];

export function isServiceType(type: string): boolean {
  return serviceEvents.some((event) => event.type === type);
}
