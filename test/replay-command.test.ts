/** The commands of the pages on replays and on the support desk, as they stand there, and `postern replay` itself. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { commandsOf, folderOfCommand, runShell } from "./support/how-to.ts";
import { steered } from "./support/receivers.ts";
import { range, replaysOf, seedEvents } from "./support/replays.ts";
import { missingCommands } from "./support/missing-commands.ts";
import { OWNER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { first, publish, webhooksOf, type Webhooks } from "./support/webhooks.ts";

const receiver = steered();
let service: TestService;
let webhooks: Webhooks;
let folder: string;

before(async () => {
  service = await startTestService({ respond: receiver.respond, env: { RETRY_SCHEDULE: "0s" } });
  webhooks = webhooksOf(service);
  folder = await folderOfCommand();
});
after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

/** On this service, and in a range that is not of the page's day. */
function here(command: string): string {
  const { from, to } = range();
  return command
    .replace("postern replay", `postern replay --url ${service.url}`)
    .replace(/--from \S+ --to \S+/, `--from ${from} --to ${to}`);
}

const shell = (command: string, variables: Record<string, string>) =>
  runShell(command, { folder, env: { ...service.env, ...variables } });

async function failing(count: number): Promise<string> {
  const { endpoint } = await webhooks.create({ events: ["invoice.*"] });
  await seedEvents(service.database.pool, { endpoint: endpoint.id, count });
  return endpoint.id;
}

describe("docs/how-to/replay-what-was-missed.md", () => {
  it("counts first, and then sends, with its progress on the terminal", async () => {
    const [dryRun, replay, ...others] = await commandsOf("replay-what-was-missed.md");
    assert.ok(dryRun !== undefined && replay !== undefined && others.length === 0);
    const variables = { ENDPOINT: await failing(3) };
    const counted = await shell(here(dryRun), variables);
    assert.match(counted.stdout, /^3 events, accepted from \S+Z to \S+Z\n {2}http_500: 3\n$/, counted.stderr);
    assert.deepEqual(service.receiver.requests, []);
    const sent = await shell(here(replay), variables);
    assert.match(
      sent.stdout,
      /^replay \S+ finished: 3 sent, 3 delivered, 0 failed, 0 skipped\n$/,
      sent.stderr,
    );
    assert.match(sent.stderr, /^finished: 3 of 3 events$/m);
    assert.equal(service.receiver.requests.length, 3);
  });
});

describe("docs/how-to/support-desk.md", () => {
  it(
    "finds, shows, measures, sends and counts, in five calls",
    { skip: missingCommands("curl") },
    async () => {
      const commands = await commandsOf("support-desk.md");
      assert.equal(commands.length, 5);
      receiver.answer = () => ({ status: 500 });
      const { endpoint } = await webhooks.create({ events: ["document.*"] });
      const event = await publish(service, { type: "document.signed", id: "order 77" });
      await webhooks.waitFor(endpoint.id, "failed");
      const { from, to } = range();
      const variables = {
        POSTERN: service.url,
        TOKEN: await service.token({ ...OWNER, role: "admin" }),
        WHAT: "order 77",
        EVENT: event.id,
        ENDPOINT: endpoint.id,
        FROM: from,
        TO: to,
      };
      const answers: unknown[] = [];
      for (const [place, command] of commands.entries()) {
        // The count comes first, so that what call 4 sends does not count as pending.
        if (place === 3) answers.push(JSON.parse((await shell(commands[4] ?? "", variables)).stdout));
        else if (place < 3) answers.push(JSON.parse((await shell(command, variables)).stdout));
      }
      receiver.answer = () => ({});
      answers.push(JSON.parse((await shell(commands[3] ?? "", variables)).stdout));
      const [found, story, health, count, sent] = answers.map((answer) => Object(answer));
      assert.deepEqual(found, [{ kind: "event", href: `/api/events/${event.id}` }]);
      assert.deepEqual([story.event.id, story.endpoints[0].state], [event.id, "failed"]);
      assert.equal(health.health.pending, 0);
      assert.deepEqual(count.by_cause, { http_500: 1 });
      assert.equal(sent.delivery.status, "pending");
      const delivered = first(await webhooks.waitFor(endpoint.id, "delivered"));
      assert.equal(delivered.id, sent.delivery.id);
    },
  );
});

describe("postern replay", () => {
  it("answers as JSON, prints a refusal as it is, and exits with 1 where it does not finish", async () => {
    const id = await failing(2);
    const replay = `postern replay --tenant acme --endpoint ${id} --from 2001-01-01 --to 2001-01-02`;
    const json = await shell(here(`${replay} --dry-run --json`), {});
    assert.equal(JSON.parse(json.stdout).count, 2);
    const none = await shell(here(`${replay} --dry-run --cause timeout`), {});
    assert.match(none.stdout, /^no event: .*attempt still to come/);
    const unknown = await shell(here(replay.replace("acme", "globex")), {});
    assert.deepEqual(
      [unknown.hasFailed, JSON.parse(unknown.stdout)],
      [true, { error: "Endpoint not found" }],
    );
    const mistaken = await shell(`postern replay --tenant acme --endpoint ${id} --from yesterday`, {});
    assert.match(mistaken.stderr, /--from yesterday is not a time/);
    assert.deepEqual(
      await replaysOf(service)
        .list("?limit=100")
        .then((all) => all.filter((one) => one.endpoint_id === id)),
      [],
    );
    const { pool } = service.database;
    await pool.query(
      `CREATE FUNCTION cancel_replay() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.status := 'canceled'; NEW.finished_at := now(); RETURN NEW; END $$;
      CREATE TRIGGER cancel_replay BEFORE INSERT ON postern.replays
        FOR EACH ROW EXECUTE FUNCTION cancel_replay()`,
    );
    const canceled = await shell(here(replay), {});
    await pool.query("DROP FUNCTION cancel_replay CASCADE");
    assert.match(canceled.stdout, /^replay \S+ canceled: 0 sent/, canceled.stderr);
    assert.equal(canceled.hasFailed, true);
  });
});
