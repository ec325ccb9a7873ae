/**
 * Postern's own events are those of changes that were committed: for each kind,
 * the database refuses the change as its transaction commits, after every
 * statement of it has run. No event of it may be left, and once the change is
 * possible there is one.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createEndpoint, publish } from "./support/api.ts";
import { storageOf } from "./support/exports.ts";
import { replaysOf, seedEvents } from "./support/replays.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;
let dataDir: string;
let status = 500;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postern-own-events-"));
  service = await startTestService({
    upkeepTimes: { tellOfEndpointsMs: 50 },
    env: { RETRY_SCHEDULE: "0s", DATA_DIR: dataDir },
    respond: () => ({ status }),
  });
  await sql(`CREATE SEQUENCE postern.refusals`);
  // A sequence counts what is rolled back too.
  await sql(`CREATE FUNCTION postern.refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN PERFORM nextval('postern.refusals'); RAISE EXCEPTION 'refused at the commit'; END $$`);
});
after(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const sql = (text: string, values: unknown[] = []) => service.database.pool.query(text, values);

async function countOf(text: string, values: unknown[] = []): Promise<number> {
  const { rows } = await sql(text, values);
  return Number(rows[0]?.["count"]);
}

/** In the outbox, or relayed from there. */
function countOwn(type: string): Promise<number> {
  return countOf(
    `SELECT (SELECT count(*) FROM postern.outbox WHERE type = $1)
      + (SELECT count(*) FROM postern.events WHERE type = $1) AS count`,
    [type],
  );
}

const refusals = () =>
  countOf("SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS count FROM postern.refusals");

/** An endpoint of the next attempt's status. */
async function endpointThat(answers: number): Promise<string> {
  status = answers;
  const { endpoint } = await createEndpoint(service, {
    url: service.receiver.url,
    events: ["invoice.paid"],
  });
  return endpoint.id;
}

const failedFor = (id: string, interval: string) =>
  sql(`UPDATE postern.endpoints SET failing_since = now() - $2::interval WHERE id = $1`, [id, interval]);

type Kind = {
  event: string;
  /** Refused on this table. */
  table: string;
  when: string;
  /** What is there before the change. */
  prepare: () => Promise<string>;
  change: (id: string) => Promise<unknown>;
  /** For work that is not tried again by itself, or not soon. */
  again?: (id: string) => Promise<unknown>;
};

const KINDS: readonly Kind[] = [
  {
    event: "endpoint.disabled",
    table: "endpoints",
    when: "OLD.enabled AND NOT NEW.enabled",
    prepare: () => endpointThat(410),
    change: () => publish(service),
    again: () => publish(service),
  },
  {
    event: "endpoint.failing",
    table: "endpoints",
    when: "NEW.failing_told_at IS DISTINCT FROM OLD.failing_told_at",
    prepare: () => endpointThat(500),
    change: (id) => failedFor(id, "2 hours"),
  },
  {
    event: "endpoint.recovered",
    table: "endpoints",
    when: "OLD.failing_since IS NOT NULL AND NEW.failing_since IS NULL",
    async prepare() {
      const id = await endpointThat(200);
      await failedFor(id, "2 hours");
      await eventually(
        async () =>
          (await countOf(
            "SELECT count(*) FROM postern.endpoints WHERE id = $1 AND failing_told_at IS NOT NULL",
            [id],
          )) === 1,
      );
      return id;
    },
    change: () => publish(service),
    again: () => publish(service),
  },
  {
    event: "delivery.exhausted",
    table: "endpoints",
    when: "NEW.exhausted_told_at IS DISTINCT FROM OLD.exhausted_told_at",
    prepare: () => endpointThat(500),
    change: () => publish(service),
  },
  {
    event: "replay.finished",
    table: "replays",
    when: "NEW.status = 'finished'",
    async prepare() {
      const id = await endpointThat(200);
      await seedEvents(service.database.pool, { endpoint: id, count: 1 });
      return id;
    },
    change: (id) => replaysOf(service).create({ endpoint_id: id }),
    again: () => sql("UPDATE postern.replays SET lease_until = now() WHERE status = 'running'"),
  },
  {
    event: "storage.export.ready",
    table: "storage_exports",
    when: "NEW.status = 'ready'",
    prepare: () => endpointThat(200),
    change: () => storageOf(service).request(),
    again: () => storageOf(service).request(),
  },
];

describe("a change that is rolled back as it commits leaves no", () => {
  for (const { event, table, when, prepare, change, again } of KINDS) {
    it(event, async () => {
      const id = await prepare();
      const [already, before] = [await countOwn(event), await refusals()];
      await sql(`CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON postern.${table} DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION postern.refuse()`);
      try {
        await change(id);
        await eventually(async () => (await refusals()) > before);
        assert.equal(await countOwn(event), already);
      } finally {
        await sql(`DROP TRIGGER refuse ON postern.${table}`);
      }
      await again?.(id);
      await eventually(async () => (await countOwn(event)) === already + 1);
      await service.call("DELETE", `/api/webhooks/${id}`);
    });
  }
});
