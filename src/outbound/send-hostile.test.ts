/** Receivers that break rules: each must end as one outcome, within the limits. */
import { equal } from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import { drip, flood } from "../../test/support/hostile-receivers.ts";
import { brief, post, senderFor } from "../../test/support/sender.ts";
import { startRawReceiver } from "../../test/support/tls-receiver.ts";
import type { SendOutcome, SenderLimits } from "./send.ts";

const SHORT: Partial<SenderLimits> = { attemptTimeoutMs: 250 };

/** Sends one request to a receiver that answers its first bytes with `misbehave`. */
async function against(
  test: TestContext,
  misbehave: (socket: TLSSocket) => void,
  limits: Partial<SenderLimits> = {},
): Promise<SendOutcome> {
  const receiver = await startRawReceiver((socket) => {
    socket.once("data", () => misbehave(socket));
  });
  test.after(() => receiver.close());
  return post(senderFor(test, receiver.caPem, { limits }), receiver.url);
}

const OK = "HTTP/1.1 200 OK\r\n";
const HINTS = "HTTP/1.1 103 Early Hints\r\n\r\n";

function slowHeader(socket: TLSSocket): void {
  drip(socket, `${OK}X-Slow: `, "a");
}

function slowBody(socket: TLSSocket): void {
  drip(socket, `${OK}Content-Length: 60000\r\n\r\n`, "a");
}

function slowHints(socket: TLSSocket): void {
  drip(socket, HINTS, HINTS);
}

function longHeader(socket: TLSSocket): void {
  flood(socket, `${OK}X-Long: `, "h".repeat(4_096));
}

function manyHeaders(socket: TLSSocket): void {
  flood(socket, OK, "X-Many: 1\r\n".repeat(100));
}

describe("a receiver that never finishes", () => {
  it("is a timeout when silent", async (test) => {
    equal(brief(await against(test, () => {}, SHORT)), "timeout");
  });

  it("is a timeout when headers drip", async (test) => {
    equal(brief(await against(test, slowHeader, SHORT)), "timeout");
  });

  it("is a timeout when the body drips", async (test) => {
    equal(brief(await against(test, slowBody, SHORT)), "timeout");
  });

  it("is a timeout when 1xx answers drip", async (test) => {
    const limits = { ...SHORT, maxInformationalAnswers: Number.POSITIVE_INFINITY };
    equal(brief(await against(test, slowHints, limits)), "timeout");
  });
});

describe("a receiver that floods", () => {
  it("with body has its status counted, and the connection closed", async (test) => {
    const outcome = await against(test, (socket) =>
      flood(socket, `${OK}Content-Length: 10000000000\r\n\r\n`, "a".repeat(16_384)),
    );
    equal(outcome.kind, "answered");
    if (outcome.kind === "answered") equal(outcome.body, "a".repeat(1_000));
  });

  it("with one-byte chunks has its status counted", async (test) => {
    const outcome = await against(test, (socket) =>
      flood(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n`, "1\r\nb\r\n".repeat(1_000)),
    );
    equal(brief(outcome), "200");
  });

  it("with a chunk extension has its status counted", async (test) => {
    const outcome = await against(test, (socket) =>
      flood(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n1;a=`, "e".repeat(16_384)),
    );
    equal(brief(outcome), "200");
  });

  it("with 1xx answers is an invalid response", async (test) => {
    const outcome = await against(test, (socket) => flood(socket, HINTS, HINTS));
    equal(brief(outcome), "invalid_response");
  });

  it("with long 1xx answers is an invalid response by its bytes", async (test) => {
    const answer = `HTTP/1.1 103 Early Hints\r\nLink: ${"l".repeat(10_000)}\r\n\r\n`;
    const limits = { maxInformationalAnswers: Number.POSITIVE_INFINITY };
    equal(brief(await against(test, (socket) => flood(socket, answer, answer), limits)), "invalid_response");
  });

  it("with headers is a response too large", async (test) => {
    equal(brief(await against(test, longHeader)), "response_too_large");
    equal(brief(await against(test, manyHeaders)), "response_too_large");
  });
});

describe("a receiver that speaks badly", () => {
  const answers: Record<string, string> = {
    "with no HTTP": "SSH-2.0-OpenSSH_9.6\r\n",
    "with a bare status line of another protocol": "ICY 200 OK\r\n\r\n",
    "with two lengths": `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    "with a length and chunks": `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    "with a chunk of no size": `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    "with an upgrade nobody asked for":
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
  };
  for (const [name, answer] of Object.entries(answers)) {
    it(`${name} is an invalid response`, async (test) => {
      equal(brief(await against(test, (socket) => socket.write(answer))), "invalid_response");
    });
  }

  it("with some 1xx answers first has its final status counted", async (test) => {
    const answer = `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${OK}Content-Length: 0\r\n\r\n`;
    equal(brief(await against(test, (socket) => socket.write(answer))), "200");
  });

  it("with a second answer to one request has the first counted, and the connection dropped", async (test) => {
    const receiver = await startRawReceiver((socket) => {
      const answer = `${OK}Content-Length: 0\r\n\r\n`;
      socket.on("data", () => socket.write(answer + answer.replace("200", "500")));
    });
    test.after(() => receiver.close());
    const sender = senderFor(test, receiver.caPem);
    equal(brief(await post(sender, receiver.url)), "200");
    equal(brief(await post(sender, receiver.url)), "200");
    equal(receiver.connectionCount(), 2);
  });
});

describe("a receiver that hangs up", () => {
  it("at once is a reset", async (test) => {
    equal(brief(await against(test, (socket) => socket.destroy())), "reset");
    equal(brief(await against(test, (socket) => socket.end())), "reset");
  });

  it("inside the headers is a reset", async (test) => {
    equal(brief(await against(test, (socket) => socket.end(`${OK}X-A: `))), "reset");
  });

  it("inside a body of known length is a reset", async (test) => {
    equal(brief(await against(test, (socket) => socket.end(`${OK}Content-Length: 9\r\n\r\nab`))), "reset");
  });

  it("inside a chunked body is a reset", async (test) => {
    const answer = `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nab`;
    equal(brief(await against(test, (socket) => socket.end(answer))), "reset");
    const closing = answer.replace("\r\n", "\r\nConnection: close\r\n");
    equal(brief(await against(test, (socket) => socket.end(closing))), "reset");
  });

  it("after a body of unknown length has answered", async (test) => {
    equal(brief(await against(test, (socket) => socket.end(`${OK}\r\nabc`))), "200");
  });

  it("from an idle connection as it is used again gets the request on a new one", async (test) => {
    const seen: string[] = [];
    const receiver = await startRawReceiver((socket, index) => {
      let count = 0;
      socket.on("data", () => {
        seen.push(`${index}/${count}`);
        if (index === 0 && count++ === 1) socket.destroy();
        else socket.write(`${OK}Content-Length: 0\r\n\r\n`);
      });
    });
    test.after(() => receiver.close());
    const sender = senderFor(test, receiver.caPem);
    equal(brief(await post(sender, receiver.url)), "200");
    equal(brief(await post(sender, receiver.url)), "200");
    equal(seen.filter((step) => step.startsWith("0/1")).length, 1);
    equal(seen.at(-1), "1/0");
  });

  it("from all idle connections gets the request on a new one too, not on another that is idle", async (test) => {
    let answers: (() => void)[] = [];
    const taken: number[] = [];
    const receiver = await startRawReceiver((socket, index) => {
      let count = 0;
      socket.on("data", () => {
        taken.push(index);
        if (index < 2 && count++ === 1) socket.destroy();
        else answers.push(() => socket.write(`${OK}Content-Length: 0\r\n\r\n`));
        if (answers.length < 2 && receiver.connectionCount() < 3) return;
        for (const answer of answers) answer();
        answers = [];
      });
    });
    test.after(() => receiver.close());
    const sender = senderFor(test, receiver.caPem);
    const both = await Promise.all([post(sender, receiver.url), post(sender, receiver.url)]);
    equal(both.map(brief).join(), "200,200");
    equal(brief(await post(sender, receiver.url)), "200");
    equal(receiver.connectionCount(), 3);
    // The second of those that were idle got nothing more.
    equal(taken.length, 4, taken.join());
  });

  it("from every connection is tried on one new connection only", async (test) => {
    const receiver = await startRawReceiver((socket, index) => {
      let count = 0;
      socket.on("data", () => {
        if (index > 0 || count++ > 0) socket.destroy();
        else socket.write(`${OK}Content-Length: 0\r\n\r\n`);
      });
    });
    test.after(() => receiver.close());
    const sender = senderFor(test, receiver.caPem);
    equal(brief(await post(sender, receiver.url)), "200");
    equal(brief(await post(sender, receiver.url)), "reset");
    equal(receiver.connectionCount(), 2);
  });

  it("from a used connection inside an answer is a reset, not tried again", async (test) => {
    const receiver = await startRawReceiver((socket) => {
      let count = 0;
      socket.on("data", () => {
        if (count++ > 0) socket.end("HTTP/1.1 2");
        else socket.write(`${OK}Content-Length: 0\r\n\r\n`);
      });
    });
    test.after(() => receiver.close());
    const sender = senderFor(test, receiver.caPem);
    equal(brief(await post(sender, receiver.url)), "200");
    equal(brief(await post(sender, receiver.url)), "reset");
    equal(receiver.connectionCount(), 1);
  });
});
