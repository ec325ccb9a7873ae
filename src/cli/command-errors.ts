/** Errors of commands that the table of mistakes has words for. */

/** The Postern that a command calls could not be reached. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/** A command's call was answered, and not as this release of Postern answers it. */
export class StrangeAnswerError extends Error {
  override readonly name = "StrangeAnswerError";
  readonly status: number;

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The program was installed without its migrations. */
export class NoMigrationsError extends Error {
  override readonly name = "NoMigrationsError";
}
