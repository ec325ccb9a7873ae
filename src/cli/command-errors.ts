/** Errors of commands that the table of mistakes has words for. */

/** The Postern that a command calls could not be reached. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/** The program was installed without its migrations. */
export class NoMigrationsError extends Error {
  override readonly name = "NoMigrationsError";
}
