/** What the database code tells an operator. Any pino logger fits. */
export type DatabaseLog = {
  info(message: string): void;
  warn(message: string): void;
};
