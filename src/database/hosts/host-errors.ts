/** What goes wrong with a list of hosts. Both pass by themselves: see `passing-errors.ts`. */

/** None of the hosts accepts writes now. */
export class NoHostError extends Error {
  override readonly name = "NoHostError";
  readonly code = "POSTERN_NO_HOST";
}

/** This connection must not be used any more, although its server may go on. */
export class ConnectionRefusedError extends Error {
  override readonly name = "ConnectionRefusedError";
  readonly code = "POSTERN_CONNECTION_REFUSED";
}
