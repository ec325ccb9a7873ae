import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { runHere, type Ran } from "../../../test/support/command.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { joinedShards } from "../../../test/support/joined-shards.ts";
import { runProgram, startTask } from "../../../test/support/program.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { temporaryPath } from "../../../test/support/temporary.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { Environment } from "../../config.ts";
import { tryLockMove } from "../../shards/move-store.ts";

const NAMES = ["eu1", "eu2", "eu3"];
const acme = tenant("acme");

const of = joinedShards(NAMES);

beforeEach(async () => {
  await of("eu1").pool.query(
    `TRUNCATE postern.shard_directory, postern.tenant_moves;
      INSERT INTO postern.shard_directory (tenant_id, shard) VALUES ('acme', 'eu1')`,
  );
  await of("eu2").pool.query("TRUNCATE postern.shard_tenants");
});

/** As the command leaves it that was killed before its switch, or behind it. */
async function begun({ isSwitched }: { isSwitched: boolean }): Promise<void> {
  await of("eu1").pool.query(
    "INSERT INTO postern.tenant_moves (tenant_id, source, target, switched) VALUES ('acme', 'eu1', 'eu2', $1)",
    [isSwitched],
  );
  if (!isSwitched) return;
  await of("eu1").pool.query("UPDATE postern.shard_directory SET shard = 'eu2', version = 2");
  await of("eu2").pool.query("INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ('acme', 2)");
}

function settings(): Environment {
  const SHARDS = NAMES.map((name) => `${name}=${of(name).url}`).join("|");
  return { SHARDS, DATA_DIR: temporaryPath("data") };
}

function run(words: readonly string[], env: Environment = {}): Promise<Ran> {
  return runHere(["tenants", "move", "acme", ...words], { ...settings(), ...env });
}

/** Once the server has noticed that the connection of the command before is gone, and its lock with it. */
async function move(words: readonly string[], env: Environment = {}): Promise<Ran> {
  await eventually(async () => {
    const { rows } = await of("eu1").pool.query(
      "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    return rows.length === 0;
  });
  return run(words, env);
}

/** What a refused command says, without the line that names the databases. */
function told({ code, printed, errors }: Ran): string {
  assert.deepEqual([code, printed], [1, ""], errors);
  return errors
    .replaceAll("\n  ", "\n")
    .replace(/^Database: .*\n/, "")
    .trim();
}

const refusal = async (words: readonly string[], env: Environment = {}) => told(await move(words, env));

describe("a move that has begun", () => {
  it("goes to no other shard, and a dry run says where it goes", async () => {
    await begun({ isSwitched: false });
    assert.equal(
      await refusal(["--to", "eu3"]),
      "postern:\nacme is being moved to eu2 already.\nGo on with --to eu2, or give it up with --undo.",
    );
    const dry = await move(["--dry-run"]);
    assert.deepEqual([dry.code, dry.printed], [0, "acme is being moved from eu1 to eu2 already.\n"]);
  });

  it("is not undone behind its switch", async () => {
    await begun({ isSwitched: true });
    assert.equal(
      await refusal(["--undo"]),
      "postern:\nacme lives in eu2 already.\nRun the command without --undo: it deletes what is left in eu1.",
    );
  });

  it("is undone before it, and leaves the tenant where it is", async () => {
    await begun({ isSwitched: false });
    const { code, printed, errors } = await move(["--undo"]);
    assert.deepEqual([code, printed], [0, "acme stays in eu1.\n"], errors);
    const { rows } = await of("eu1").pool.query("SELECT FROM postern.tenant_moves");
    assert.equal(rows.length, 0);
    assert.equal(await refusal(["--undo"]), "postern:\nacme is not being moved.\nIt lives in eu1.");
  });

  it("that loses a server says that the tenant waits, and how to go on", async () => {
    await begun({ isSwitched: false });
    const url = new URL(of("eu2").url);
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    // The command waits for it.
    const open = await of("eu2").pool.connect();
    try {
      await open.query("BEGIN");
      await open.query("SELECT pg_current_xact_id()");
      const moving = run(["--to", "eu2"], { MOVE_TO_URL: url.href });
      await eventually(async () => {
        const { rows } = await of("eu2").pool.query(
          "SELECT FROM postern.shard_tenants WHERE tenant_id = 'acme'",
        );
        return rows.length === 1;
      });
      await proxy.close();
      const { code, errors } = await moving;
      assert.equal(code, 1);
      assert.match(
        errors,
        /postern:\n {2}acme is half-way, and its deliveries and publishing may wait: .+\.\n {2}Run the command again soon; /,
      );
    } finally {
      open.release(true);
      await of("eu2").pool.query("DELETE FROM postern.shard_tenants WHERE tenant_id = 'acme'");
    }
  });

  it("that is interrupted says so too", async () => {
    await begun({ isSwitched: false });
    // The command waits for it.
    const open = await of("eu2").pool.connect();
    try {
      await open.query("BEGIN");
      await open.query("SELECT pg_current_xact_id()");
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        const moving = startTask(["tenants", "move", "acme", "--to", "eu2"], settings());
        await eventually(async () => moving.output().includes("waiting for open transactions in eu2"));
        assert.equal(await moving.end(signal), 1);
        assert.match(
          moving.errors(),
          /postern:\n {2}acme is half-way, and its deliveries and publishing may wait: the command was interrupted\.\n {2}Run the command again soon; /,
        );
      }
    } finally {
      open.release(true);
      await of("eu2").pool.query("DELETE FROM postern.shard_tenants WHERE tenant_id = 'acme'");
    }
  });

  for (const [name, setting] of [
    ["eu1", "MOVE_FROM_URL"],
    ["eu2", "MOVE_TO_URL"],
  ] as const) {
    it(`that waits for ${name}, which has fallen silent, says that the tenant waits, and how to go on`, async () => {
      await begun({ isSwitched: false });
      const url = new URL(of(name).url);
      const proxy = await startTcpProxy(Number(url.port));
      url.port = String(proxy.port);
      const open = await of("eu2").pool.connect();
      try {
        await open.query("BEGIN");
        await open.query("SELECT pg_current_xact_id()");
        const moving = runProgram(["tenants", "move", "acme", "--to", "eu2"], {
          ...settings(),
          [setting]: url.href,
        });
        await eventually(async () => {
          const { rows } = await of("eu2").pool.query(
            "SELECT FROM postern.shard_tenants WHERE tenant_id = 'acme'",
          );
          return rows.length === 1;
        });
        proxy.pause();
        const { code, errors } = await moving;
        assert.equal(code, 1);
        const why = `acme is half-way, and its deliveries and publishing may wait: ${name} does not answer.`;
        assert.ok(errors.includes(`postern:\n  ${why}\n  Run the command again soon; `), errors);
      } finally {
        open.release(true);
        await proxy.close();
        await of("eu2").pool.query("DELETE FROM postern.shard_tenants WHERE tenant_id = 'acme'");
      }
    });
  }

  for (const how of ["is ended", "falls silent"] as const) {
    it(`whose connection with the lock ${how} ends before another command could move the tenant too`, async () => {
      await begun({ isSwitched: false });
      const url = new URL(of("eu1").url);
      const proxy = await startTcpProxy(Number(url.port));
      url.port = String(proxy.port);
      const env = settings();
      // The command waits for it.
      const open = await of("eu2").pool.connect();
      try {
        await open.query("BEGIN");
        await open.query("SELECT pg_current_xact_id()");
        const moving = runProgram(["tenants", "move", "acme", "--to", "eu2"], {
          ...env,
          SHARDS: env["SHARDS"]?.replace(of("eu1").url, url.href),
        });
        await eventually(async () => {
          const { rows } = await of("eu2").pool.query(
            "SELECT FROM postern.shard_tenants WHERE tenant_id = 'acme'",
          );
          return rows.length === 1;
        });
        if (how === "falls silent") proxy.pause();
        else {
          await of("eu1").pool.query(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
          );
        }
        const { code, errors } = await moving;
        assert.equal(code, 1);
        assert.match(
          errors,
          /postern:\n {2}acme is half-way, and its deliveries and publishing may wait: the connection to eu1 that keeps other commands away is lost\.\n {2}Run the command again soon; /,
        );
      } finally {
        open.release(true);
        await proxy.close();
        await of("eu2").pool.query("DELETE FROM postern.shard_tenants WHERE tenant_id = 'acme'");
      }
    });
  }

  it("is left to the command that moves already", async () => {
    const client = await of("eu1").pool.connect();
    try {
      await eventually(() => tryLockMove(client, acme));
      assert.match(
        told(await run(["--to", "eu2"])),
        /Another command is moving acme\.\nWait until it has ended\./,
      );
    } finally {
      client.release(true);
    }
  });
});

/** As a backup has it that was made within a move to eu2. */
const restored = () =>
  of("eu2").pool.query(
    "INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ('acme', 2, true, true)",
  );

async function isLeft(): Promise<boolean> {
  const { rows } = await of("eu2").pool.query("SELECT FROM postern.shard_tenants WHERE moving");
  return rows.length > 0;
}

function shardsWith(name: string, url: string): Environment {
  const env = settings();
  return { ...env, SHARDS: env["SHARDS"]?.replace(of(name).url, url) };
}

function nowhere(name: string): Environment {
  const url = new URL(of(name).url);
  url.port = "1";
  return shardsWith(name, url.href);
}

describe("a move that is over, and that a restored backup has brought back", () => {
  it("is ended where it can be, and shards that are away are named", async () => {
    assert.match(
      await refusal(["--undo"], nowhere("eu2")),
      /^postern:\nacme is not being moved\.\nIt lives in eu1\. eu2 could not be asked .*\nThe shard eu2 cannot be reached: /,
    );
    await of("eu1").pool.query("UPDATE postern.shard_directory SET shard = 'eu3'");
    assert.match(await refusal(["--undo"], nowhere("eu3")), /^postern:\nThe shard eu3 cannot be reached: /);
    await of("eu1").pool.query("UPDATE postern.shard_directory SET shard = 'eu1'");
    await restored();
    const { code, printed, errors } = await move(["--undo"], nowhere("eu3"));
    assert.equal(code, 1);
    assert.match(printed, /^acme lives in eu1\. What a restore had brought back of a move is ended in eu2: /);
    assert.match(
      errors,
      /eu3 could not be asked .*\n +The shard eu3 cannot be reached: .*\n.*\n +Then run the command again\./,
    );
    assert.equal(await isLeft(), false);
  });

  it("is not ended in a database that is not the shard", async () => {
    await restored();
    const [one, two] = [of("eu2").url, of("eu3").url];
    const SHARDS = `eu1=${of("eu1").url}|eu2=${two}|eu3=${one}`;
    assert.match(
      await refusal(["--undo"], { SHARDS }),
      /^postern:\nacme is not being moved\.\n.*\nThe database of eu2 in SHARDS is not that shard .*\nCorrect its URL\.\nThe database of eu3 /,
    );
    assert.equal(await isLeft(), true);
  });

  it("is not waited for without end in a shard that falls silent", async () => {
    await restored();
    const url = new URL(of("eu2").url);
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const open = await of("eu2").pool.connect();
    try {
      await open.query("BEGIN; LOCK TABLE postern.shard_tenants");
      const ending = runProgram(["tenants", "move", "acme", "--undo"], shardsWith("eu2", url.href));
      await eventually(async () => {
        const { rows } = await of("eu2").pool.query(
          "SELECT FROM pg_locks WHERE relation = 'postern.shard_tenants'::regclass AND NOT granted",
        );
        return rows.length === 1;
      });
      proxy.pause();
      const { code, errors } = await ending;
      assert.equal(code, 1);
      assert.match(errors, /of a move of acme may not be ended everywhere: eu2 does not answer\.\n/);
    } finally {
      open.release(true);
      await proxy.close();
    }
  });

  it("does not open the tenant's shard where another has let the tenant in", async () => {
    await of("eu1").pool.query(
      "INSERT INTO postern.shard_tenants (tenant_id, version, fenced, moving) VALUES ('acme', 1, true, true)",
    );
    try {
      await of("eu2").pool.query("INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ('acme', 2)");
      assert.match(
        await refusal(["--undo"]),
        /acme lives in eu2 by its own rows.*\n.* restore a later backup of eu1 /,
      );
    } finally {
      await of("eu1").pool.query("TRUNCATE postern.shard_tenants");
    }
  });
});

const notIt = (setting: string, name: string) =>
  `postern:\nThe database of ${setting} is not the shard ${name} of this installation.\nCorrect or unset it; without it the URL of SHARDS is used.`;

describe("a tenant that cannot be moved", () => {
  it("is told so with every reason at once", async () => {
    await of("eu1").pool.query("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ('acme')");
    await of("eu2").pool.query(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
        VALUES ('acme', gen_random_uuid(), 'https://example.com/', '{*}', '', now(), now())`,
    );
    const said = await refusal(["--to", "eu2"]);
    await of("eu1").pool.query("DELETE FROM postern.tenant_erasures");
    await of("eu2").pool.query("DELETE FROM postern.endpoints");
    assert.match(said, /eu1 .*wal_level/);
    assert.ok(said.includes("eu2 has rows of acme already (endpoints).\n"), said);
    assert.ok(said.includes("acme is being erased.\nThere will be nothing to move."), said);
    const { rows } = await of("eu1").pool.query("SELECT FROM postern.tenant_moves");
    assert.equal(rows.length, 0);
  });
});

describe("the databases of a move", () => {
  it("are those of the two shards, in one installation", async () => {
    const to = ["--to", "eu2", "--dry-run"];
    assert.equal(await refusal(to, { MOVE_FROM_URL: of("eu3").url }), notIt("MOVE_FROM_URL", "eu1"));
    assert.equal(await refusal(to, { MOVE_TO_URL: of("eu3").url }), notIt("MOVE_TO_URL", "eu2"));
    const { rows } = await of("eu2").pool.query(
      "UPDATE postern.shard new SET directory = gen_random_uuid() FROM postern.shard old RETURNING old.directory",
    );
    assert.equal(await refusal(to), notIt("MOVE_TO_URL", "eu2"));
    await of("eu2").pool.query("UPDATE postern.shard SET directory = $1", [rows[0]?.directory]);
  });

  it("have no misspelled parameter, each by its own setting", async () => {
    const url = "postgres://postgres@127.0.0.1/postern?ssl_mode=require";
    for (const name of ["MOVE_FROM_URL", "MOVE_TO_URL"]) {
      assert.match(
        await refusal(["--to", "eu2"], { [name]: url }),
        new RegExp(`^postern:\n${name} has a misspelled parameter`),
      );
    }
  });

  it("have the files that they name, or it is said which setting does", async () => {
    const url = "postgres://127.0.0.1/postern?sslmode=verify-full&sslrootcert=/nowhere/ca.pem";
    for (const [name, shard] of [
      ["MOVE_FROM_URL", "eu1"],
      ["MOVE_TO_URL", "eu2"],
    ] as const) {
      assert.match(
        await refusal(["--to", "eu2"], { [name]: url }),
        new RegExp(
          `^postern:\n *sslrootcert of the URL of the shard ${shard} in ${name} can't be read: ENOENT.*\n *Check the path`,
        ),
      );
    }
    const SHARDS = `${settings()["SHARDS"]}|eu4=${url}`;
    assert.match(
      await refusal(["--to", "eu4"], { SHARDS }),
      /^postern:\n *sslrootcert of the URL of the shard eu4 in SHARDS can't be read: ENOENT/,
    );
  });
});
