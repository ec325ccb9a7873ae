/**
 * Imported before a test file, runs it on the oldest PostgreSQL that Postern
 * supports. `test/oldest` has a file of two lines for each that runs on both.
 */
import { OLDEST, SERVER } from "./postgres.ts";

process.env[SERVER.major] = OLDEST;
process.env[SERVER.url] = process.env[SERVER.oldestUrl] ?? "";
process.once("exit", (status) => {
  // The report names the file that both servers run.
  if (status !== 0) console.error(`The failure is that of PostgreSQL ${OLDEST}.`);
});
