/**
 * Keeps a process of the service aware of which host accepts writes, also where
 * no connection is opened: a primary that falls silent closes no connection, and one
 * that comes back after a promotion still takes writes on those it had. Logs
 * each change. With a single host it does nothing.
 */
import { makeRepeated, type Background } from "../../shared/every.ts";
import { hostsOf, tellHost, type Hosts, type HostState } from "./hosts.ts";
import type { DatabaseLog } from "../log.ts";
import { messageOf } from "../../shared/message-of.ts";

const CHECK_MS = 500;
/** Of that many checks one asks all hosts: a promotion shows while the former primary still answers. */
const CHECKS_PER_LOOK = 6;

export function makeHostWatch({ databaseUrl, log }: { databaseUrl: string; log: DatabaseLog }): Background {
  const hosts = hostsOf(databaseUrl);
  if (hosts === null) return { start: () => undefined, stop: async () => undefined };
  const tell = makeTeller(hosts, log);
  let checks = 0;
  const repeated = makeRepeated(
    CHECK_MS,
    async () => {
      await (checks++ % CHECKS_PER_LOOK === 0 ? hosts.look() : hosts.check());
      tell();
    },
    (error) => log.warn(`The hosts of DATABASE_URL could not be checked: ${messageOf(error)}`),
  );
  return {
    start() {
      hosts.keepAsking(true);
      repeated.start();
    },
    async stop() {
      await repeated.stop();
      hosts.keepAsking(false);
    },
  };
}

/** Each change once. */
export function makeTeller(
  hosts: Pick<Hosts, "current" | "timeline" | "states">,
  log: DatabaseLog,
): () => void {
  let toldCurrent: string | null = null;
  const toldTroubles = new Map<string, string>();

  function tellTrouble(state: HostState): void {
    const trouble = isTrouble(state) ? tellHost(state) : "";
    if (trouble !== "" && toldTroubles.get(state.name) !== trouble) {
      log.warn(`A host of DATABASE_URL can't be used: ${trouble}`);
    }
    toldTroubles.set(state.name, trouble);
  }

  return () => {
    const current = hosts.current();
    if (current !== null && current !== toldCurrent) {
      log.info(`The database's primary is ${current}, on timeline ${hosts.timeline()}`);
      toldCurrent = current;
    }
    for (const state of hosts.states()) tellTrouble(state);
  };
}

/** Whether it is neither a primary that takes writes nor a standby. */
export function isTrouble({ refusal, error }: HostState): boolean {
  return error !== null || (refusal !== null && refusal !== "is a standby");
}
