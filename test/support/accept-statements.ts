/** The statements that accept events, as `statement-plans.test.ts` plans them. */
import type { Db } from "../../src/database/pool.ts";
import { acceptEvents } from "../../src/queue/postgres/accept-store.ts";
import { ALL_SLOTS } from "../../src/queue/slots.ts";
import { event } from "./store-inputs.ts";
import { LEASE_OWNER, type Rows } from "./two-tenants.ts";

const PUBLISHER = "postern_publisher" as const;

type Batch = readonly [Rows, ...Rows[]];

const unkeyed = (batch: Batch) => batch.map((rows) => event(rows, null));
const halfKeyed = (batch: Batch) => batch.map((rows, n) => event(rows, n % 2 === 0 ? null : `new ${n}`));
const manyOfEach = (batch: Batch) => Array.from({ length: 32 }, () => unkeyed(batch)).flat();
const ACCEPTING = { leaseId: LEASE_OWNER, slots: ALL_SLOTS, parked: [], firstDelayMs: 0 };

export const ACCEPT_STATEMENTS = {
  "accept without keys": {
    as: PUBLISHER,
    run: (db: Db, batch: Batch) => acceptEvents(db, unkeyed(batch), ACCEPTING),
    also: { endpoints: ["tenant_id"] },
  },
  accept: {
    as: PUBLISHER,
    run: (db: Db, batch: Batch) =>
      acceptEvents(db, halfKeyed(batch), { ...ACCEPTING, parked: [batch[0].endpointId] }),
    also: { endpoints: ["tenant_id"] },
  },
  "accept many of one tenant": {
    as: PUBLISHER,
    run: (db: Db, batch: Batch) => acceptEvents(db, manyOfEach(batch), ACCEPTING),
    also: { endpoints: ["tenant_id"] },
  },
  "accept in one of several databases": {
    as: PUBLISHER,
    // They live nowhere, and the question is a function's.
    run: (db: Db, batch: Batch) =>
      acceptEvents(db, unkeyed(batch), { ...ACCEPTING, residents: { tenantIds: [], versions: [] } }),
    also: { endpoints: ["tenant_id"] },
  },
  "accept versions": {
    as: PUBLISHER,
    run: (db: Db, batch: Batch) =>
      acceptEvents(
        db,
        halfKeyed(batch).map((one) => Object.assign(one, { version: 2, others: { "1": "{}" } })),
        ACCEPTING,
      ),
    also: { endpoints: ["tenant_id"] },
  },
};
