import { after, before, beforeEach } from "node:test";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { seedTwoTenants, type Rows } from "./two-tenants.ts";

/** A database of the test file's own, in which two tenants have their rows anew before each test. */
export function seededDatabase() {
  let database: TestDatabase;
  let acme: Rows;
  let globex: Rows;
  const seedAnew = async () => {
    ({ acme, globex } = await seedTwoTenants(database.pool));
  };
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  beforeEach(seedAnew);
  return {
    get pool() {
      return database.pool;
    },
    get acme() {
      return acme;
    },
    get globex() {
      return globex;
    },
    seedAnew,
    sql: async (text: string, ...values: unknown[]) => (await database.pool.query(text, values)).rows,
  };
}
