/** A transaction that is rolled back, for a test of what a function of the database does: its `now()` stands still. */
import { createTestDatabase } from "./postgres.ts";

export type FunctionTests = Awaited<ReturnType<typeof openFunctionTests>>;

export async function openFunctionTests() {
  const database = await createTestDatabase();
  const client = await database.pool.connect();

  async function rows(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await client.query<Record<string, unknown>>(text, values)).rows;
  }

  return {
    database,
    rows,
    begin: () => client.query("BEGIN"),
    rollBack: () => client.query("ROLLBACK"),
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
    async close() {
      client.release();
      await database.drop();
    },
  };
}
