/**
 * Node's HTTP server. An `import` of `node:http` reads every export, and one of
 * them loads the copy of undici that Node brings: 30 ms of each start.
 */
export const { createServer, METHODS, STATUS_CODES } = process.getBuiltinModule("node:http");
