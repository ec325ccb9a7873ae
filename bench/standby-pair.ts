/** A primary and its synchronous standby, which change places when one of them fails. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Replicated, Server } from "../test/support/replicated-postgres.ts";
import { eventually } from "../test/support/eventually.ts";

type Step = () => Promise<void>;
/** Promotes, and looks how long the service needs. */
type Promotion = (promote: Step) => Promise<void>;

export class StandbyPair {
  #primary: Server;
  #standby: Server;

  constructor({ servers }: Pick<Replicated, "servers">) {
    const [primary, standby] = servers;
    assert.ok(primary && standby);
    this.#primary = primary;
    this.#standby = standby;
  }

  get primary(): Server {
    return this.#primary;
  }

  get standby(): Server {
    return this.#standby;
  }

  async killPrimary(promotion: Promotion = promoteOnly): Promise<void> {
    await this.#primary.kill();
    await promotion(() => this.#promote());
    await this.#standby.follow(this.#primary);
  }

  /** The former primary comes back as it was: it accepts writes, and must get none, not even in `whileBack`. */
  async pausePrimary(whileBack: Step, promotion: Promotion = promoteOnly): Promise<void> {
    this.#primary.pause();
    await promotion(() => this.#promote());
    const former = this.#standby;
    former.resume();
    const session = former.openPool();
    const next = async () => {
      const { rows } = await session.query("SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid");
      return rows[0]?.xid;
    };
    await eventually(async () => {
      // A commit that waits for the standby doesn't notice that its client has gone; it goes no further.
      const { rows } = await session.query(
        `SELECT FROM pg_stat_activity WHERE application_name LIKE 'postern%'
          AND application_name <> 'postern host check' AND wait_event IS DISTINCT FROM 'SyncRep'`,
      );
      return rows.length === 0;
    });
    const before = await next();
    await whileBack();
    assert.equal(await next(), before, "the former primary was written to");
    await session.end();
    await former.follow(this.#primary);
  }

  /** Commits wait for it meanwhile. */
  async killStandby(): Promise<void> {
    await this.#standby.kill();
    await delay(300);
    await this.#standby.start();
  }

  async #promote(): Promise<void> {
    await this.#standby.promote();
    [this.#primary, this.#standby] = [this.#standby, this.#primary];
  }
}

function promoteOnly(promote: Step): Promise<void> {
  return promote();
}
