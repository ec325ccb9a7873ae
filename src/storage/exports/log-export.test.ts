import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newExportId } from "../../shared/id.ts";
import { STAGE_LIMITS } from "./export-stage.ts";
import { exportAt, type ExportWithArchive } from "./log-export.ts";

const NOW = "2026-03-01T12:00:00.000Z";
const LATER = "2026-03-01T12:00:00.001Z";

const FOUND: ExportWithArchive = {
  tenantId: tenant("acme"),
  id: newExportId(),
  from: new Date(0),
  to: new Date(1),
  formats: ["csv"],
  endpointId: null,
  eventType: null,
  deliveryStatus: null,
  status: "ready",
  attempt: 1,
  rowsTotal: 1,
  rowsDone: 1,
  bytes: 1,
  objectId: "object",
  error: null,
  createdAt: new Date(0),
  updatedAt: new Date(1),
  archive: { state: "available", deadline: LATER, hold: false },
};

/** The status that is shown, of an export of which nothing else changes. */
function shown(archive: Partial<NonNullable<ExportWithArchive["archive"]>> | null, status = FOUND.status) {
  const whole =
    archive === null ? null : { state: "available" as const, deadline: LATER, hold: false, ...archive };
  const { archive: _, ...rest } = FOUND;
  const { status: found, ...others } = exportAt({ ...FOUND, status, archive: whole }, NOW);
  const { status: _status, ...expected } = rest;
  assert.deepEqual(others, expected);
  return found;
}

describe("an export that became ready", () => {
  it("is shown as ready for as long as its archive is there", () => {
    assert.equal(shown({}), "ready");
    assert.equal(shown({ state: "missing" }), "ready");
    assert.equal(shown({ deadline: NOW, hold: true }), "ready");
  });

  it("has expired with its archive's deadline, with its bytes, and with its row", () => {
    assert.equal(shown({ deadline: NOW }), "expired");
    assert.equal(shown({ state: "expired" }), "expired");
    assert.equal(shown({ state: "purged" }), "expired");
    assert.equal(shown(null), "expired");
  });
});

describe("an export that is not ready", () => {
  it("stays what it is, whatever is known of an archive", () => {
    for (const status of ["queued", "running", "failed"] as const) {
      assert.equal(shown(null, status), status);
      assert.equal(shown({ state: "purged" }, status), status);
    }
  });
});

it("an export is staged in pages of 200 rows and a megabyte, and in parts of 50,000 rows or 64 megabytes", () => {
  const [pageBodyBytes, partBytes] = [1_048_576, 67_108_864];
  assert.deepEqual(STAGE_LIMITS, { pageRows: 200, pageBodyBytes, partRows: 50_000, partBytes });
});
