/** Of a loss that reconciling finds, its tenant is told in the step that notes it, or not at all. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { after, before, it } from "node:test";
import { runPass } from "../src/storage/upkeep/reconcile-pass.ts";
import { openArtifacts, type Artifacts } from "./support/artifacts.ts";

let artifacts: Artifacts;

before(async () => {
  artifacts = await openArtifacts();
});
after(() => artifacts.close());

it("tells nobody of a loss whose commit is refused, and tells it once when it is committed", async () => {
  const artifact = await artifacts.store("available");
  await rm(artifact.place);
  await artifacts.age();
  await runPass(artifacts.services);
  await artifacts.age();
  await artifacts.pool.query(`CREATE FUNCTION postern.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'refused at the commit'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON postern.stored_objects DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.state = 'missing') EXECUTE FUNCTION postern.refuse()`);
  await assert.rejects(runPass(artifacts.services), /refused at the commit/);
  assert.deepEqual([await artifacts.stateOf(artifact), await artifacts.toldTenants()], ["available", []]);
  await artifacts.pool.query("DROP FUNCTION postern.refuse CASCADE");
  await runPass(artifacts.services);
  assert.deepEqual(
    [await artifacts.stateOf(artifact), await artifacts.toldTenants()],
    ["missing", [{ type: "storage.object.missing", object_id: artifact.id }]],
  );
});
