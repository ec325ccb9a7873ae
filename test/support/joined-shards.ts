/** Databases that are joined as shards, without a program: made before the tests of a file, dropped after them. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { joinShards } from "../../src/shards/join.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";

/** The first name is the directory's. Answers a look-up by name, for use within tests. */
export function joinedShards(names: readonly string[]): (name: string) => TestDatabase {
  const made = new Map<string, TestDatabase>();
  before(async () => {
    await Promise.all(names.map(async (name) => made.set(name, await createTestDatabase())));
    await joinShards(
      names.map((name) => ({ name, db: find(name).pool })),
      names,
    );
  });
  after(async () => {
    for (const database of made.values()) await database.drop();
  });
  function find(name: string): TestDatabase {
    const database = made.get(name);
    assert.ok(database !== undefined, name);
    return database;
  }
  return find;
}
