/** A fault of the operator's settings or files; the message is for the operator's terminal. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
