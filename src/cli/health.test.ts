import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { after, before, beforeEach, describe, it } from "node:test";
import { runHere } from "../../test/support/command.ts";
import { freePort } from "../../test/support/free-port.ts";
import { listen } from "../../test/support/tls-receiver.ts";

let server: Server;
let url: string;
/** What was asked for, and with what it is answered in turn; the last again and again. */
let asked: string[];
let answers: number[];
let well: string;
let unwell: string;
before(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const status = answers.length > 1 ? answers.shift() : answers[0];
    response.writeHead(status ?? 500).end(status === 200 ? well : unwell);
  });
  url = `http://127.0.0.1:${await listen(server)}`;
});
beforeEach(() => {
  asked = [];
  answers = [200];
  well = '{"status":"ok"}';
  unwell = '{"status":"not ready"}';
});
after(() => server.close());

const health = (...words: string[]) =>
  runHere(["health", ...words], { HOST: "0.0.0.0", PORT: new URL(url).port });

describe("postern health", () => {
  it("asks where HOST, PORT and BASE_PATH are, or where it is told, and prints the answer", async () => {
    assert.deepEqual(await health(), { code: 0, printed: `${well}\n`, errors: "" });
    well = '{"status":"ready","warnings":[]}';
    assert.equal((await health("--url", `${url}/postern/`, "--ready")).code, 0);
    assert.deepEqual(asked, ["/health", "/postern/ready"]);
  });

  it("exits with 1 where it is not well, or not there", async () => {
    answers = [503];
    assert.deepEqual(await health("--ready"), { code: 1, printed: `${unwell}\n`, errors: "" });
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const { code, printed } = await health("--url", nobody);
    assert.equal(code, 1);
    assert.match(printed, new RegExp(`^no answer from ${nobody}/health: connect ECONNREFUSED `));
    assert.deepEqual(asked, ["/ready"]);
  });

  it("exits with 1 where another program answers, or --url is none", async () => {
    // What a terminal would act on is shown, and of a page its begin.
    well = `<html>\u001b[2JWelcome${"!".repeat(1000)}`;
    assert.deepEqual(await health(), {
      code: 1,
      printed: `http://127.0.0.1:${new URL(url).port}/health answered 200, and not as Postern does: <html>\\u001b[2JWelcome${"!".repeat(63)}\n`,
      errors: "",
    });
    // What a proxy answers where nothing is behind it.
    answers = [502];
    unwell = "<html>Bad Gateway";
    const { printed } = await health("--ready");
    assert.match(printed, /^http:\S+\/ready answered 502, and not as Postern does: <html>Bad Gateway\n$/);
    const { code, errors } = await health("--url", "127.0.0.1:8080");
    assert.deepEqual(
      [code, errors],
      [1, "postern:\n  --url 127.0.0.1:8080 is no http or https URL, such as http://127.0.0.1:8080\n"],
    );
  });

  it("waits for one that is still starting, and no longer than it may", async () => {
    answers = [503, 503, 200];
    assert.deepEqual([(await health("--wait", "60s")).code, asked.length], [0, 3]);
    answers = [503];
    asked = [];
    assert.equal((await health("--wait", "1ms")).code, 1);
    assert.ok(asked.length <= 2);
    assert.match((await health("--wait", "soon")).errors, /--wait soon is not a duration/);
  });
});
