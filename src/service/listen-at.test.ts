import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fastify } from "fastify";
import { listenAt, UnknownHostError } from "./listen-at.ts";

describe("a service's address", () => {
  it("is that of HOST, with the port that the system chose", async () => {
    const app = fastify();
    assert.match(await listenAt(app, { host: "127.0.0.1", port: 0 }), /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    await app.close();
  });

  it("is no good where HOST is a name that leads nowhere, told with the name", async () => {
    // As Node says it, whatever resolver this machine has.
    const reason = Object.assign(new Error("getaddrinfo ENOTFOUND nowhere.invalid"), {
      syscall: "getaddrinfo",
    });
    await assert.rejects(
      listenAt({ listen: () => Promise.reject(reason) }, { host: "nowhere.invalid", port: 0 }),
      (error) => {
        assert.ok(error instanceof UnknownHostError);
        assert.deepEqual([error.name, error.cause], ["UnknownHostError", reason]);
        return error.message.includes("nowhere.invalid");
      },
    );
  });

  it("is refused as Node refuses it where it is another machine's, or taken", async () => {
    const app = fastify();
    const { port } = new URL(await listenAt(app, { host: "127.0.0.1", port: 0 }));
    for (const [host, code] of [
      ["192.0.2.1", "EADDRNOTAVAIL"],
      ["127.0.0.1", "EADDRINUSE"],
    ] as const) {
      await assert.rejects(listenAt(fastify(), { host, port: Number(port) }), { code }, host);
    }
    await app.close();
  });
});
