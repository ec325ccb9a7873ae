import type { FastifyInstance } from "fastify";

/** HOST is a name that leads nowhere. A class of its own, because Node's error is the same for a database's host. */
export class UnknownHostError extends Error {
  override readonly name = "UnknownHostError";
}

/** Answers the address. Throws {@link UnknownHostError}. */
export async function listenAt(
  app: Pick<FastifyInstance, "listen">,
  place: { host: string; port: number },
): Promise<string> {
  try {
    return await app.listen({ port: place.port, host: place.host });
  } catch (error) {
    const isLookup = error instanceof Error && "syscall" in error && error.syscall === "getaddrinfo";
    throw isLookup ? new UnknownHostError(error.message, { cause: error }) : error;
  }
}
