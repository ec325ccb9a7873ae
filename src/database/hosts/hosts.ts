/**
 * Which host of a list is connected to: the one that accepts writes.
 *
 * PostgreSQL gives each promotion a higher timeline, so of two servers that both
 * accept writes the one with the lower is a former primary, whose writes are
 * lost. So a timeline is remembered for the whole process as soon as it is seen,
 * every new connection asks for the timeline before its first use, one that is
 * older is refused, and open connections to it are cut off. Between the
 * promotion and the moment this process learns of it, an old primary that still
 * runs can be written to: a synchronous standby is what prevents that.
 */
import type { Client } from "pg";
import { ConfigError } from "../../shared/config-error.ts";
import { messageOf } from "../../shared/message-of.ts";
import { withinLimit } from "../../shared/time-limit.ts";
import { cutOff } from "../cut-off.ts";
import { type HostAnswer, refusalOf, type Seen } from "./host-answer.ts";
import { ConnectionRefusedError, NoHostError } from "./host-errors.ts";
import { type Host, requireHosts } from "./host-list.ts";
import { HostProbe, type HostReport } from "./host-probe.ts";
import { isAway } from "../passing-errors.ts";

/** At the first look all hosts are waited for: the first to answer may be a former primary. */
const FIRST_LOOK_MS = 5000;
/** A later look ends without the hosts that are silent, so that the next one soon asks the others again. */
const LOOK_MS = 1500;
const PATIENCE_MS = 3000;
/** The current host that is silent for so long may have been replaced. */
const SILENCE_MS = 1000;
/** A host that has just answered is connected to without asking anybody else. */
const FRESH_MS = 2000;

/** The newest timeline of each cluster that was ever seen. */
export type TimelineMemory = {
  timelineOf(system: string): number;
  raise(system: string, timeline: number): void;
};

type Found = [HostProbe, HostReport];

const NOTHING_SEEN: Seen = { system: null, timeline: 0 };

/** How a host was found at the last look; `refusal` is null for one that accepts writes. */
export type HostState = { name: string; refusal: string | null; error: unknown };

export class Hosts {
  readonly #probes: readonly HostProbe[];
  readonly #reports = new Map<HostProbe, HostReport>();
  /** Open connections by the timeline that they write to. */
  readonly #open = new Map<Client, number>();
  #memory: TimelineMemory = { timelineOf: () => 0, raise: () => undefined };
  #seen: Seen = NOTHING_SEEN;
  #current: HostProbe | null = null;
  #freshUntil = -Infinity;
  #looking: Promise<void> | null = null;
  #conflict: ConfigError | null = null;
  #keepsAsking = false;

  constructor(hosts: readonly Host[]) {
    this.#probes = hosts.map((host) => new HostProbe(host));
  }

  /** The host to connect to now. Throws NoHostError, or the operator's mistake; waits only while a host is silent. */
  async pick(): Promise<HostProbe> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const current = this.#fresh();
      if (current !== null) return current;
      await this.look();
      const isSilent = this.#probes.some((probe) => probe.isAsked());
      if (this.#fresh() === null && !(isSilent && performance.now() < endsAt)) throw this.#failure();
    }
  }

  /** Asks every host, once for all who want to know at the same time. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= (this.#seen.system === null ? this.#firstLook() : this.#nextLook()).finally(
      () => (this.#looking = null),
    );
    return this.#looking;
  }

  /** Asks the current host alone, and the others where it is silent or accepts no writes any more. */
  async check(): Promise<void> {
    const current = this.#current;
    if (current !== null) {
      await withinLimit(this.#ask(current), SILENCE_MS, () => new Error("silent")).catch(() => this.doubt());
    }
    if (this.#fresh() === null) await this.look();
  }

  /** Takes a new connection in, or throws why it must not be used. */
  admit(client: Client, probe: HostProbe, answer: HostAnswer): void {
    this.#note(probe, { kind: "answer", answer });
    const refusal = refusalOf(answer, this.#seen);
    if (refusal !== null) throw new ConnectionRefusedError(`${probe.host.name} ${refusal}`);
    this.#open.set(client, answer.timeline ?? 0);
    client.once("end", () => this.#open.delete(client));
  }

  /** For what was seen before this process began. Call it before anything connects. */
  remember(memory: TimelineMemory): void {
    this.#memory = memory;
  }

  /** The next one to connect asks first. */
  doubt(): void {
    this.#freshUntil = -Infinity;
  }

  current(): string | null {
    return this.#current?.host.name ?? null;
  }

  timeline(): number {
    return this.#seen.timeline;
  }

  states(): HostState[] {
    return this.#probes.map((probe) => {
      const report = this.#reports.get(probe);
      const { name } = probe.host;
      if (report === undefined) return { name, refusal: "has not answered yet", error: null };
      if (report.kind === "answer")
        return { name, refusal: refusalOf(report.answer, this.#seen), error: null };
      return { name, refusal: "cannot be used", error: report.error };
    });
  }

  /** While checks are frequent, the connection for asking the current host stays open. */
  keepAsking(isOn: boolean): void {
    this.#keepsAsking = isOn;
    if (!isOn) for (const probe of this.#probes) probe.close();
  }

  /** All are waited for, because the first to answer may be a former primary. The newest timeline is noted first. */
  async #firstLook(): Promise<void> {
    const found = await Promise.all(
      this.#probes.map(async (probe): Promise<Found> => [probe, await probe.ask(FIRST_LOOK_MS)]),
    );
    for (const [probe, report] of found) this.#reports.set(probe, report);
    this.#conflict = conflictOf(found);
    if (this.#conflict !== null) for (const [probe] of found) probe.close();
    else for (const [probe, report] of found.toSorted(byTimeline)) this.#note(probe, report);
  }

  /** Ends with the first that accepts writes, without waiting for silent ones: their answers are noted when they come. */
  #nextLook(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LOOK_MS);
    const notYet = new Set(this.#probes);
    for (const probe of this.#probes) {
      void this.#ask(probe).then(() => {
        notYet.delete(probe);
        return (this.#fresh() !== null || notYet.size === 0) && resolve();
      });
    }
    return promise.finally(() => clearTimeout(timer));
  }

  async #ask(probe: HostProbe): Promise<void> {
    this.#note(probe, await probe.ask(PATIENCE_MS));
  }

  #fresh(): HostProbe | null {
    return performance.now() < this.#freshUntil ? this.#current : null;
  }

  #note(probe: HostProbe, report: HostReport): void {
    this.#reports.set(probe, report);
    const answer = report.kind === "answer" ? report.answer : null;
    if (answer !== null) this.#recall(answer);
    if (answer === null || refusalOf(answer, this.#seen) !== null) {
      if (this.#current === probe) this.#current = null;
    } else {
      const timeline = answer.timeline ?? 0;
      if (timeline > this.#seen.timeline || this.#current === null) this.#current = probe;
      this.#raise({ system: answer.system, timeline });
      if (this.#current === probe) this.#freshUntil = performance.now() + FRESH_MS;
    }
    if (this.#current !== probe || !this.#keepsAsking) probe.close();
  }

  /** The first that accepts writes says which cluster is meant; its timeline may be known from an earlier run. */
  #recall({ system, timeline }: HostAnswer): void {
    if (this.#seen.system !== null || timeline === null) return;
    this.#seen = { system, timeline: this.#memory.timelineOf(system) };
  }

  #raise(seen: Seen & { system: string }): void {
    if (seen.timeline <= this.#seen.timeline) return;
    this.#seen = seen;
    this.#memory.raise(seen.system, seen.timeline);
    for (const [client, timeline] of this.#open) {
      if (timeline < seen.timeline) {
        cutOff(client, new ConnectionRefusedError("another host of DATABASE_URL has taken over"));
      }
    }
  }

  /** A login that is refused everywhere is the operator's mistake, and waiting does not heal it. */
  #failure(): Error {
    if (this.#conflict !== null) return this.#conflict;
    const states = this.states();
    const letsIn = states.some(({ error }) => error === null);
    const mistake = states.map(({ error }) => error).find((error) => error !== null && !isAway(error));
    if (!letsIn && mistake instanceof Error) return mistake;
    return new NoHostError(`no host of DATABASE_URL accepts writes: ${states.map(tellHost).join("; ")}`);
  }
}

function byTimeline([, one]: Found, [, other]: Found): number {
  return timelineOf(other) - timelineOf(one);
}

function timelineOf(report: HostReport): number {
  return report.kind === "answer" ? (report.answer.timeline ?? 0) : 0;
}

/** Two clusters that both accept writes are unrelated: Postern cannot know which is meant. */
function conflictOf(found: readonly Found[]): ConfigError | null {
  const writers = found.flatMap(([{ host }, report]) =>
    report.kind === "answer" && refusalOf(report.answer, NOTHING_SEEN) === null
      ? [{ name: host.name, system: report.answer.system }]
      : [],
  );
  if (new Set(writers.map(({ system }) => system)).size < 2) return null;
  const named = writers.map(({ name, system }) => `${name} (system identifier ${system})`).join(", ");
  return new ConfigError(
    `The hosts of DATABASE_URL are different databases, and several accept writes: ${named}.\nName one primary and its own standbys.`,
  );
}

/** In words for logs, as `db1:5432 is a standby`. */
export function tellHost({ name, refusal, error }: HostState): string {
  if (error instanceof Error) return `${name} ${refusal}: ${messageOf(error)}`;
  return `${name} ${refusal ?? "accepts writes"}`;
}

const known = new Map<string, Hosts>();

/** One for the whole process: what one connection has seen, all others know. Null for a single host. Throws ConfigError. */
export function hostsOf(databaseUrl: string): Hosts | null {
  const found = known.get(databaseUrl);
  if (found !== undefined) return found;
  const list = requireHosts(databaseUrl);
  if (list.length === 1) return null;
  const made = new Hosts(list);
  known.set(databaseUrl, made);
  return made;
}
