/** Commands of curl, as people copy them, read by the signature's debugger. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { describe, it } from "node:test";
import { missingCommands } from "../../test/support/missing-commands.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { curlOf } from "../src/deliveries/curl.ts";
import { readCurl } from "../src/signature/curl.ts";

describe("readCurl", () => {
  it("reads what curlOf writes, whatever is in it", () => {
    for (const body of ['{"note":"it\'s"}', 'a\\b\n"c" $d `e` !f', "", "ü\u202E🧾"]) {
      const headers = { "webhook-id": "msg_1", "X-Note": 'it\'s; "quoted" \\ and : more' };
      const command = curlOf("https://example.com/a?b=c'd", {
        request_headers: { ...headers, Host: "example.com" },
        request_body: body,
      });
      assert.deepEqual(readCurl(command), {
        headers: 'webhook-id: msg_1\nX-Note: it\'s; "quoted" \\ and : more',
        body,
      });
    }
  });

  it(
    "reads a header with an empty value, which curl sends as such",
    { skip: missingCommands("curl") },
    async (test) => {
      const sent = Promise.withResolvers<IncomingHttpHeaders>();
      const server = createServer((request, response) => {
        sent.resolve(request.headers);
        response.end();
      });
      test.after(() => server.close());
      const url = `http://127.0.0.1:${await listen(server)}/`;
      const command = curlOf(url, { request_headers: { "X-Empty": "", "X-Full": "a;" }, request_body: "{}" });
      assert.deepEqual(readCurl(command), { headers: "X-Empty:\nX-Full: a;", body: "{}" });
      spawn("sh", ["-c", command], { stdio: "ignore" });
      const { "x-empty": empty, "x-full": full } = await sent.promise;
      assert.deepEqual([empty, full], ["", "a;"]);
    },
  );

  it("reads quotes as a shell does", () => {
    const words = `-H 'a: 1' --header "b: \\"2\\" \\$x" -Hc:3 --header=d:4 \\\n --data-binary $'it\\'s\\n\\u00fc\\x41' -X POST`;
    const script = `printf '%s\\0' ${words}`;
    const shell = spawnSync("bash", ["-c", script], { encoding: "utf8", env: { LC_ALL: "C.UTF-8" } });
    assert.ok(shell.stdout.includes("it's\nüA\0"), shell.stderr);
    assert.deepEqual(readCurl(`curl https://example.com ${words}`), {
      headers: 'a: 1\nb: "2" $x\nc:3\nd:4',
      body: "it's\nüA",
    });
    assert.deepEqual(readCurl("  $ curl https://example.com -d x"), { headers: "", body: "x" });
    assert.deepEqual(readCurl("curl -H 'a: 1' https://example.com"), { headers: "a: 1", body: null });
  });

  it("is for nothing else", () => {
    for (const text of ["", "webhook-id: 1", "-H 'a: 1'", '{"curl":1}', "curly: yes"]) {
      assert.equal(readCurl(text), null, text);
    }
  });

  it("takes a command that is cut off as far as it goes", () => {
    assert.deepEqual(readCurl("curl -H 'a: 1' -d 'x y"), { headers: "a: 1", body: "x y" });
    assert.deepEqual(readCurl("curl -H"), { headers: "", body: null });
  });
});
