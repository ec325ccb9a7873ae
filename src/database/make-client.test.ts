import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import type { Client as PlainClient } from "pg";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { type Pretended, pretend, sayHost } from "../../test/support/pretended-server.ts";
import { eventually } from "../../test/support/eventually.ts";
import { endSessions, sessions } from "../../test/support/sessions.ts";
import { startTcpProxy } from "../../test/support/tcp-proxy.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { codeOf } from "../shared/error-code.ts";
import { isCutOff } from "./cut-off.ts";
import { hostsOf } from "./hosts/hosts.ts";
import { clientFor } from "./make-client.ts";
import { isRefusedLogin } from "./passing-errors.ts";
import { createPool } from "./pool.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ migrated: false });
});
after(() => database.drop());

/** A list of a host that is gone and of the database's, which says this of itself. */
async function listThat(said: Parameters<typeof sayHost>[0] = {}) {
  const pretended: Pretended = await pretend(database, sayHost(said));
  const { host } = new URL(pretended.url);
  const url = pretended.url.replace(host, `127.0.0.1:1,${host}`);
  const { Client, connection } = clientFor(url, undefined);
  const open = () => new Client({ ...connection, connectionTimeoutMillis: 5000 });
  return { url, open, Client, say: pretended.say };
}

async function ask(client: PlainClient): Promise<unknown> {
  const { rows } = await client.query("SELECT current_database() AS name, current_setting('jit') AS jit");
  return rows[0];
}

const answer = () => ({ name: new URL(database.url).pathname.slice(1), jit: "off" });

describe("a client", () => {
  it("of one host is the package's own, with our settings", async () => {
    const { Client, connection } = clientFor(database.url, undefined);
    const client = new Client(connection);
    await client.connect();
    assert.deepEqual(await ask(client), answer());
    await client.end();
  });

  it("of several hosts takes the password of its own from a password file", async (test) => {
    const { host, hostname, port, password, username } = new URL(database.url);
    const file = temporaryPath("pgpass");
    const lines = [
      `${hostname}:1:*:${username}:of another host`,
      `${hostname}:${port}:*:${username}:${password}`,
    ];
    await writeFile(file, lines.join("\n"), { mode: 0o600 });
    process.env["PGPASSFILE"] = file;
    test.after(async () => {
      delete process.env["PGPASSFILE"];
      await rm(file);
    });
    const url = database.url.replace(`${username}:${password}@${host}`, `${username}@${hostname}:1,${host}`);
    const { Client, connection } = clientFor(url, undefined);
    const client = new Client({ ...connection, connectionTimeoutMillis: 5000 });
    await client.connect();
    assert.deepEqual(await ask(client), answer());
    await client.end();
  });

  it("fails to connect, and ends nothing else, while a file of its URL is away", async () => {
    const file = temporaryPath("ca.pem");
    await writeFile(file, "");
    // Without TLS it is read too.
    const url = `${database.url}?sslmode=disable&sslrootcert=${file}`;
    const pool = createPool({ url, poolSize: 1, applicationName: "files", connectionTimeoutMs: 5000 });
    const client = await pool.connect();
    const waiting = pool.query("SELECT 1");
    await rm(file);
    // The pool makes one by itself for those who wait, where nobody could catch its error.
    client.release(true);
    await assert.rejects(waiting, (error: unknown) => isRefusedLogin(error) && codeOf(error) === "ENOENT");
    await assert.rejects(pool.query("SELECT 1"), isRefusedLogin);
    await writeFile(file, "");
    assert.equal((await pool.query("SELECT 1")).rowCount, 1);
    await pool.end();
    await rm(file);
  });

  for (const told of ["a promise", "a call"]) {
    it(`that is ended in the moment it connects ends nothing else, told by ${told}`, async () => {
      const name = `ended at once, told by ${told}`;
      const { Client, connection } = clientFor(database.url, undefined);
      const client = new Client({ ...connection, application_name: name });
      const ended = new Promise<void>((resolve) => client.once("end", () => resolve()));
      const connected = new Promise<unknown>((resolve, reject) => {
        if (told === "a promise") client.connect().then(resolve, reject);
        else client.connect((error: Error | null) => (error === null ? resolve(null) : reject(error)));
      });
      // A process that stood still reads all that came meanwhile at once: "ready" and the end.
      client.connection.once("authenticationSASLContinue", () => client.connection.stream.pause());
      const isIdle = "SELECT FROM pg_stat_activity WHERE application_name = $1 AND state = 'idle'";
      await eventually(async () => (await database.pool.query(isIdle, [name])).rowCount === 1);
      await endSessions(database.pool, { name });
      await eventually(async () => (await sessions(database.pool, { name })).length === 0);
      client.connection.stream.resume();
      await connected;
      await ended;
    });
  }

  it("of several hosts connects to the one that accepts writes, told by a promise or a call", async () => {
    const { open, url, Client } = await listThat();
    assert.equal(clientFor(url, undefined).Client, Client);
    assert.notEqual(clientFor(`${url}%20`, undefined).Client, Client);
    const [one, other] = [open(), open()];
    assert.equal(await one.connect(), one);
    const called = await new Promise<unknown[]>((resolve) => {
      other.connect((...args: unknown[]) => resolve(args));
    });
    assert.deepEqual([called.length, called[0], called[1] === other], [2, null, true]);
    for (const client of [one, other]) {
      assert.deepEqual(await ask(client), answer());
      await client.end();
    }
  });

  it("of several hosts fails where none accepts writes, told by a promise or a call", async () => {
    const { open } = await listThat({ isStandby: true });
    await assert.rejects(open().connect(), { code: "POSTERN_NO_HOST" });
    const error = await new Promise<Error | null>((resolve) => {
      open().connect(resolve);
    });
    assert.match(String(error), /^NoHostError: .*is a standby$/);
  });

  it("that was given up while a host was looked for does not connect", async () => {
    const { open } = await listThat();
    const client = open();
    const connecting = client.connect();
    client.connection.stream.destroy();
    await assert.rejects(connecting, {
      code: "POSTERN_CONNECTION_REFUSED",
      message: "the search for a host took too long",
    });
  });

  it("that meets a host which accepts no writes any more fails, is closed, and has the next one look", async () => {
    const { url, open, say } = await listThat();
    const hosts = hostsOf(url);
    await hosts?.pick();
    await say(sayHost({ isStandby: true }));
    const client = open();
    await assert.rejects(client.connect(), { code: "POSTERN_CONNECTION_REFUSED", message: /is a standby$/ });
    assert.equal(isCutOff(client), true);
    await assert.rejects(open().connect(), { code: "POSTERN_NO_HOST" });
  });

  it("that cannot connect to the host in use has the next one look", async () => {
    const proxy = await startTcpProxy(Number(new URL(database.url).port));
    const url = database.url.replace(new URL(database.url).host, `127.0.0.1:1,127.0.0.1:${proxy.port}`);
    const { Client, connection } = clientFor(url, undefined);
    await hostsOf(url)?.pick();
    await proxy.close();
    const client = new Client(connection);
    await assert.rejects(client.connect(), { code: "ECONNREFUSED" });
    await assert.rejects(new Client(connection).connect(), { code: "POSTERN_NO_HOST" });
  });

  it("that is lost before anybody uses it ends nothing else", async () => {
    const { open } = await listThat();
    const client = open();
    await client.connect();
    const ended = new Promise<void>((resolve) => client.once("end", () => resolve()));
    await endSessions(database.pool, {});
    await ended;
    await eventually(async () => isCutOff(client));
  });
});
