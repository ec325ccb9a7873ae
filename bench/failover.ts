/**
 * `npm run bench:failover [-- rounds]` (default 100): under a steady load of two
 * processes, by turns kills the primary and promotes its synchronous standby;
 * pauses the primary, promotes the standby and lets the old primary come back;
 * kills the standby and starts it again. Afterwards every accepted event must
 * have been delivered, the log must account for each request that the receiver
 * saw, and no old primary may have been written to after it came back.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { createEndpoint } from "../test/support/api.ts";
import { type Program, sharedSettings, startProgram } from "../test/support/program.ts";
import { type Replicated, startReplicated } from "../test/support/replicated-postgres.ts";
import { issueTestToken, PRODUCER } from "../test/support/calls.ts";
import { eventually } from "../test/support/eventually.ts";
import { startReceiver, type TlsReceiver } from "../test/support/tls-receiver.ts";
import { exitOnSignal } from "./exit-on-signal.ts";
import { type Connection, openConnection } from "./generator.ts";
import { StandbyPair } from "./standby-pair.ts";

exitOnSignal();

const ROUNDS = Number(process.argv[2] ?? 100);
const SENDERS = 2;
const PAUSE_MS = 25;
/** So many are accepted before the next round. */
const BETWEEN = 20;

type Accepted = { id: string; atMs: number };

class Series {
  readonly #programs: Program[];
  readonly #start: () => Promise<Program>;
  readonly #receiver: TlsReceiver;
  readonly #accepted: Accepted[] = [];
  readonly #backMs = { accepting: [] as number[], sending: [] as number[] };
  readonly #pair: StandbyPair;
  #isOver = false;
  #refused = 0;

  constructor(
    replicated: Replicated,
    receiver: TlsReceiver,
    programs: Program[],
    start: () => Promise<Program>,
  ) {
    this.#pair = new StandbyPair(replicated);
    this.#receiver = receiver;
    this.#programs = programs;
    this.#start = start;
  }

  async run(token: string): Promise<void> {
    const sending = Array.from({ length: SENDERS }, (_, index) => this.#send(index, token));
    const promotion = (promote: () => Promise<void>) => this.#timed(promote);
    const rounds = [
      () => this.#pair.killPrimary(promotion),
      () => this.#pair.pausePrimary(() => this.#acceptMore(2 * BETWEEN), promotion),
      () => this.#pair.killStandby(),
    ];
    await this.#acceptMore(BETWEEN);
    for (let round = 0; round < ROUNDS; round++) {
      await rounds[round % rounds.length]?.();
      await this.#acceptMore(BETWEEN);
      process.stderr.write(`\rround ${round + 1} of ${ROUNDS}, ${this.#accepted.length} events accepted `);
    }
    this.#isOver = true;
    await Promise.all(sending);
    await this.#settle();
  }

  /** Notes how soon after the order to promote the standby the service goes on. */
  async #timed(promote: () => Promise<void>): Promise<void> {
    const promotedAt = performance.now();
    const before = this.#accepted.length;
    await promote();
    const next = await eventually(async () => this.#accepted[before]);
    this.#backMs.accepting.push(next.atMs - promotedAt);
    await eventually(async () => this.#received().has(next.id));
    this.#backMs.sending.push(performance.now() - promotedAt);
    await this.#sessionsAreBack();
  }

  /** Each worker listens, and holds its lock, at the new primary. */
  async #sessionsAreBack(): Promise<void> {
    const session = this.#pair.primary.openPool();
    await eventually(async () => {
      const { rows } = await session.query<{ listeners: number; locks: number }>(
        `SELECT count(*) FILTER (WHERE application_name = 'postern listener')::int AS listeners,
          (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND granted) AS locks FROM pg_stat_activity`,
      );
      const [found] = rows;
      return found !== undefined && Math.min(found.listeners, found.locks) >= this.#programs.length;
    });
    await session.end();
  }

  async #acceptMore(count: number): Promise<void> {
    const wanted = this.#accepted.length + count;
    await eventually(async () => this.#accepted.length >= wanted);
  }

  #received(): Set<string> {
    return new Set(this.#receiver.requests.map(({ headers }) => String(headers["webhook-id"])));
  }

  /** One event after another; an answer that is no acceptance is asked again later, as another event. */
  async #send(index: number, token: string): Promise<void> {
    const program = this.#programs[index % this.#programs.length];
    const { hostname, port } = new URL(program?.url ?? "");
    const open = () => openConnection({ host: hostname, port: Number(port), path: "/api/events", token });
    let connection: Connection = await open();
    while (!this.#isOver) {
      try {
        const { status, body } = await connection.post('{"type":"invoice.paid","data":{"n":1}}');
        if (status === 202) this.#accepted.push({ id: JSON.parse(body).id, atMs: performance.now() });
        else {
          assert.equal(status, 503, body);
          this.#refused++;
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        // The service closes what it did not answer in time.
        connection = await open();
      }
      await delay(PAUSE_MS);
    }
    connection.close();
  }

  async #settle(): Promise<void> {
    // A commit whose answer was lost leaves a dispatch leased for a minute. A dead worker's leases end sooner.
    for (const program of this.#programs) await program.end("SIGKILL");
    const last = await this.#start();
    const session = this.#pair.primary.openPool();
    await eventually(
      async () => (await session.query("SELECT FROM postern.dispatches LIMIT 1")).rows.length === 0,
    );
    await last.end("SIGTERM");
    const { rows } = await session.query<{ id: string }>("SELECT id FROM postern.deliveries");
    await session.end();
    const logged = new Set(rows.map(({ id }) => id));
    const received = this.#received();
    const lost = this.#accepted.filter(({ id }) => !received.has(id));
    const unaccounted = this.#receiver.requests
      .map(({ headers }) => String(headers["x-service-delivery"]))
      .filter((id) => !logged.has(id));
    console.log(
      JSON.stringify({
        rounds: ROUNDS,
        accepted: this.#accepted.length,
        refused: this.#refused,
        requests: this.#receiver.requests.length,
        lost: lost.length,
        unaccounted: unaccounted.length,
        acceptingAgainMs: spread(this.#backMs.accepting),
        sendingAgainMs: spread(this.#backMs.sending),
      }),
    );
    assert.deepEqual([lost, unaccounted], [[], []]);
  }
}

function spread(values: readonly number[]): { median: number; worst: number } {
  const sorted = values.map(Math.round).toSorted((one, other) => one - other);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, worst: sorted.at(-1) ?? 0 };
}

const replicated = await startReplicated();
const receiver = await startReceiver();
try {
  const env = await sharedSettings(replicated.url, receiver.caPem);
  const start = () => startProgram(["up"], env);
  const programs = [await start(), await start()];
  const [one] = programs;
  assert.ok(one);
  await createEndpoint(one, { url: receiver.url });
  await new Series(replicated, receiver, programs, start).run(await issueTestToken(env, PRODUCER));
} finally {
  await receiver.close();
  await replicated.close();
}
