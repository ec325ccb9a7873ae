/** PgBouncer: this machine's, or Debian's, unpacked into the checkout's cache without an installation. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { accepts, freePort } from "./free-port.ts";
import { folderOf, prepareTool, type Tell, type Tool } from "./prepared-tool.ts";
import { eventually } from "./eventually.ts";

const SYSTEMS = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
const OWN_LIBRARIES = "lib(event|c-ares)[a-z0-9.+-]*";
const TOOL: Tool = {
  name: "pgbouncer",
  notice: "Fetching PgBouncer for tests (once, some seconds) …",
  bring: () => [
    { command: "apt-get", args: ["download", "--quiet", "pgbouncer"] },
    {
      command: "sh",
      args: [
        "-c",
        `apt-get download --quiet $(dpkg-deb --field pgbouncer_*.deb Depends | grep -oE '${OWN_LIBRARIES}')`,
      ],
    },
    {
      command: "sh",
      args: ["-c", 'for package in *.deb; do dpkg-deb --extract "$package" .; done; rm *.deb'],
    },
    {
      command: "sh",
      args: [
        "-c",
        "LD_LIBRARY_PATH=$(dirname usr/lib/*/libevent-*.so.* | head -1) usr/sbin/pgbouncer --version",
      ],
    },
  ],
};

export type PgBouncer = { program: string; libraries: string | undefined };

export function findPgBouncer(tell: Tell = () => undefined): { tool: PgBouncer } | { missing: string } {
  const program = SYSTEMS.find((file) => existsSync(file));
  if (program !== undefined) return { tool: { program, libraries: undefined } };
  const why = prepareTool(TOOL, tell);
  if (why !== null) return { missing: why };
  const folder = folderOf(TOOL);
  const [library] = globSync(join(folder, "usr", "lib", "*", "libevent-*.so.*"));
  return {
    tool: {
      program: join(folder, "usr", "sbin", "pgbouncer"),
      libraries: library === undefined ? undefined : dirname(library),
    },
  };
}

/** In front of the database of `url`, as its user; its files are in `folder`. */
export async function startPgBouncer(
  { program, libraries }: PgBouncer,
  { folder, mode, url }: { folder: string; mode: "transaction" | "session"; url: string },
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const listenPort = await freePort();
  const file = join(folder, `pgbouncer-${mode}.ini`);
  const users = join(folder, "pgbouncer-users.txt");
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`, { mode: 0o644 });
  const lines = [
    "[databases]",
    `* = host=${hostname} port=${port}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${listenPort}`,
    "unix_socket_dir =",
    "auth_type = plain",
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    "ignore_startup_parameters = options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout",
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  await chmod(folder, 0o755);
  const isRoot = process.getuid?.() === 0;
  const child = spawn(program, [...(isRoot ? ["-u", "nobody"] : []), file], {
    stdio: "ignore",
    env: { ...process.env, ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) },
  });
  const ended = once(child, "exit");
  await eventually(() => accepts(listenPort));
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${listenPort}${pathname}`,
    async stop() {
      child.kill("SIGINT");
      await ended;
    },
  };
}
