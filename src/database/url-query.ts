/** The parameters of a connection string, which may list hosts, so `URL` may not read it. */
export function queryOf(databaseUrl: string): URLSearchParams {
  const queryAt = databaseUrl.indexOf("?");
  return new URLSearchParams(queryAt === -1 ? "" : databaseUrl.slice(queryAt + 1));
}
