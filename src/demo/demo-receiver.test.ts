import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:net";
import { once } from "node:events";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, describe, it } from "node:test";
import { freePort } from "../../test/support/free-port.ts";
import { makeDemoCertificates, type DemoCertificates } from "./demo-certificates.ts";
import { startDemoReceiver, type DemoReceiver } from "./demo-receiver.ts";

let certificates: DemoCertificates;
let receiver: DemoReceiver;
let secrets: string[] = ["current", "another's"];
let printed: string[] = [];

const start = (preferredPort: number) =>
  startDemoReceiver({
    ...certificates,
    host: "127.0.0.1",
    preferredPort,
    signingSecrets: async () => {
      if (secrets.length === 0) throw new Error("no secrets");
      return secrets;
    },
    print: (line) => void printed.push(line),
  });

before(async () => {
  certificates = await makeDemoCertificates("127.0.0.1");
  receiver = await start(await freePort());
});
after(() => receiver.stop());
beforeEach(() => {
  secrets = ["current", "another's"];
  printed = [];
});

/** Signed as Postern signs it, `ageS` seconds ago. */
async function send(path: string, { secret = "current", ageS = 0, body = "{}" } = {}) {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageS);
  const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  const sent = request(`${receiver.url}${path}`, {
    ca: certificates.caPem,
    method: "POST",
    agent: false,
    headers: {
      "x-service-event": "invoice.paid",
      "x-service-timestamp": timestamp,
      "x-service-signature": `sha256=${signature}`,
    },
  });
  sent.end(body);
  const [answer] = await once(sent, "response");
  return { status: answer.statusCode, type: answer.headers["content-type"], body: await text(answer) };
}

describe("the demonstration's receiver", () => {
  it("takes what is signed with a secret of any endpoint, by the certificate of its own authority, and prints it", async () => {
    for (const secret of secrets) {
      printed = [];
      assert.deepEqual(await send("", { secret, body: '{"n":1}' }), {
        status: 200,
        type: "application/json",
        body: '{"received":true}',
      });
      assert.deepEqual(printed, ['receiver: invoice.paid arrived, signature right: {"n":1}']);
    }
  });

  it("refuses what is signed with another secret, or five minutes ago, and says so, at an endpoint's path too", async () => {
    for (const wrong of [{ secret: "former" }, { ageS: 310 }, { ageS: -600 }]) {
      for (const path of ["", "/healthy"]) {
        printed = [];
        assert.deepEqual(await send(path, wrong), {
          status: 401,
          type: "application/json",
          body: '{"received":false}',
        });
        assert.deepEqual(printed, ["receiver: invoice.paid arrived, signature WRONG: {}"]);
      }
    }
    assert.equal((await send("", { ageS: 240 })).status, 200);
  });

  it("prints nothing of its endpoints' own, and breaks off what comes to the dead one", async () => {
    await assert.rejects(send("/dead"), { code: "ECONNRESET" });
    assert.deepEqual(printed, []);
    // It is healthy nearly always.
    assert.ok([200, 502].includes((await send("/healthy")).status));
    assert.deepEqual(printed, []);
  });

  it("breaks off and says why where the secrets cannot be read", async () => {
    secrets = [];
    await assert.rejects(send(""), { code: "ECONNRESET" });
    assert.deepEqual(printed, ["receiver: no secrets"]);
  });

  it("has the usual port, or another where that is taken", async () => {
    const port = await freePort();
    const usual = await start(port);
    assert.deepEqual([usual.url, usual.isMoved], [`https://127.0.0.1:${port}/webhooks`, false]);
    const moved = await start(port);
    assert.equal(moved.isMoved, true);
    assert.notEqual(moved.url, usual.url);
    await Promise.all([usual.stop(), moved.stop()]);
    const again = createServer().listen(port, "127.0.0.1");
    await once(again, "listening");
    again.close();
  });
});
