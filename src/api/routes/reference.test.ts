import assert from "node:assert/strict";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { it, mock } from "node:test";
import { fastify } from "fastify";
import { referenceRoutes } from "./reference.ts";

it("a file of the page that cannot be read is read again for the next, and one that was read is not", async () => {
  const { mock: reading } = mock.method(promises, "readFile");
  syncBuiltinESMExports();
  const app = fastify();
  referenceRoutes(app);
  const ask = async () => (await app.inject("/reference/swagger-ui.css")).statusCode;
  reading.mockImplementationOnce(() => Promise.reject(new Error("too many open files")));
  try {
    assert.deepEqual([await ask(), await ask(), await ask()], [500, 200, 200]);
    assert.equal(reading.callCount(), 2);
  } finally {
    reading.restore();
    syncBuiltinESMExports();
    await app.close();
  }
});
