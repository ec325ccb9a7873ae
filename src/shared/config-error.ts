/** A fault of the operator's settings or files; the message is for the operator's terminal. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** A file that could not be read just now, whatever is in it. */
export class UnreadableFileError extends ConfigError {}
