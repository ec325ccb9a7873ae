/**
 * A commit that waits for its synchronous standby and is cancelled meanwhile, as
 * by an administrator's pg_cancel_backend(), is not undone: PostgreSQL warns
 * that no standby may have it, and then reports success. Trusting that
 * would treat a commit as safe that a failover can lose. So the warning fails
 * the statement, like a connection that is lost in the middle of a commit:
 * its outcome is unknown. (No timeout of a statement cancels this wait.)
 */
import { EventEmitter } from "node:events";
import type { ClientBase } from "pg";
import { cutOff } from "../cut-off.ts";
import { ConnectionRefusedError } from "../hosts/host-errors.ts";

/** In the server's source: its messages are translated, and the warning's code is that of every warning. */
const ROUTINE = "SyncRepWaitForLSN";

export function refuseUnreplicated(client: ClientBase): void {
  client.on("notice", ({ routine }) => {
    if (routine !== ROUTINE) return;
    const reason = new ConnectionRefusedError("no standby has confirmed the commit");
    // Not only the socket: the answer may have come with the warning, and would be read next.
    connectionOf(client)?.emit("error", reason);
    cutOff(client, reason);
  });
}

/** `pg` keeps it, and its types leave it out. */
function connectionOf(client: object): NodeJS.EventEmitter | null {
  const connection = "connection" in client ? client.connection : null;
  return connection instanceof EventEmitter ? connection : null;
}
