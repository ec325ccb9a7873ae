/** A transaction that is rolled back, for a test of what a function of the database does: its `now()` stands still. */
import { after, afterEach, before, beforeEach } from "node:test";
import type { Pool, PoolClient } from "pg";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";

/** A database of the test file's own; what is called here is in the transaction of its test, what goes over `pool` is not. */
export function functionTests() {
  let database: TestDatabase;
  let client: PoolClient;
  before(async () => {
    database = await createTestDatabase();
    client = await database.pool.connect();
  });
  after(() => {
    client.release();
    return database.drop();
  });
  beforeEach(() => client.query("BEGIN"));
  afterEach(() => rollBack());

  const rollBack = () => client.query("ROLLBACK");

  async function rows(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await client.query<Record<string, unknown>>(text, values)).rows;
  }

  return {
    get pool(): Pool {
      return database.pool;
    },
    rows,
    rollBack,
    /** The only value of the only row. */
    async value(text: string, values: unknown[] = []): Promise<unknown> {
      const [row = {}] = await rows(text, values);
      return Object.values(row)[0];
    },
    async names(text: string): Promise<unknown[]> {
      return (await rows(text)).map(({ name }) => name);
    },
    /** The code of the error with which it is refused, null where it is not; the transaction goes on. */
    async refusal(text: string, values: unknown[] = []): Promise<unknown> {
      await client.query("SAVEPOINT before");
      try {
        await client.query(text, values);
        return null;
      } catch (error) {
        return Object(error).code;
      } finally {
        await client.query("ROLLBACK TO before");
      }
    },
  };
}
