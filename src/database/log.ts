/** The database code's log for operators. Any pino logger fits. */
export type DatabaseLog = {
  info(message: string): void;
  warn(message: string): void;
};
