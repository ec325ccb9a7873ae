import { randomUUID } from "node:crypto";

/** The names of one process's leases: UUIDs of which half is the process's and half the number of the claim. */
export type LeaseIds = {
  /** The lowest of them all, which no claim gets: it identifies the process. */
  first: string;
  next(): string;
};

/** How many characters of a lease's id are its process's. */
const PROCESS_LENGTH = 18;

export function makeLeaseIds(): LeaseIds {
  const process = randomUUID().slice(0, PROCESS_LENGTH);
  let claims = 0;
  const numbered = (number: number): string => {
    const count = number.toString(16).padStart(16, "0");
    return `${process}-${count.slice(0, 4)}-${count.slice(4)}`;
  };
  return { first: numbered(0), next: () => numbered(++claims) };
}

/** The highest id that a process's leases can have. */
export function lastLeaseId(first: string): string {
  return `${first.slice(0, PROCESS_LENGTH)}-ffff-ffffffffffff`;
}
