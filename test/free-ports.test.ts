/** Test files that run at once, each with servers whose ports they chose. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { once } from "node:events";
import { it } from "node:test";
import { promisify } from "node:util";
import { freePort } from "./support/free-port.ts";

const run = promisify(execFile);
const PORTS_EACH = 80;
const CHOOSE = `
  import { freePort } from ${JSON.stringify(import.meta.resolve("./support/free-port.ts"))};
  const ports = [];
  while (ports.length < ${PORTS_EACH}) ports.push(await freePort());
  process.stdout.write(JSON.stringify(ports));
  process.stdin.resume();
`;

it("gives no port to two processes that run at once", async () => {
  const children = Array.from({ length: 4 }, () => {
    const ran = run(process.execPath, ["--input-type=module", "--eval", CHOOSE]);
    return { ran, stdin: ran.child.stdin, chosen: once(ran.child.stdout ?? assert.fail(), "data") };
  });
  await Promise.all(children.map(({ chosen }) => chosen));
  for (const { stdin } of children) stdin?.end();
  const all = (await Promise.all(children.map(({ ran }) => ran))).flatMap(({ stdout }) => JSON.parse(stdout));
  assert.equal(all.length, 4 * PORTS_EACH);
  assert.equal(new Set(all).size, all.length);
});

it("passes over a port that somebody else has", async () => {
  const taken = createServer();
  let next = await freePort();
  do {
    next++;
    taken.listen(next, "127.0.0.1");
  } while (
    await once(taken, "listening").then(
      () => false,
      () => true,
    )
  );
  const chosen = [];
  while (chosen.length < 3 || Math.max(...chosen) < next) chosen.push(await freePort());
  taken.close();
  assert.ok(!chosen.includes(next), `${next} of ${chosen.join(", ")}`);
});
