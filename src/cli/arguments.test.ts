import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ArgsDef, CommandDef } from "citty";
import * as fc from "fast-check";
import { checkArguments, UsageError } from "./arguments.ts";
import { commands } from "./commands.ts";

const check = (line: string) => checkArguments(commands, line.split(" ").filter(Boolean));

type Named = { words: string[]; args: ArgsDef };

/** Every command that runs, with what it takes. */
async function* everyCommand(command: CommandDef, words: string[] = []): AsyncGenerator<Named> {
  const subCommands = await (typeof command.subCommands === "function"
    ? command.subCommands()
    : command.subCommands);
  if (subCommands === undefined) {
    yield { words, args: (await (typeof command.args === "function" ? command.args() : command.args)) ?? {} };
    return;
  }
  for (const [name, subCommand] of Object.entries(subCommands)) {
    yield* everyCommand(await (typeof subCommand === "function" ? subCommand() : subCommand), [
      ...words,
      name,
    ]);
  }
}

/** The words that satisfy what a command must be given. */
const needed = ({ words, args }: Named): string[] => [
  ...words,
  ...Object.entries(args).flatMap(([name, { type, required }]) => {
    if (required !== true) return [];
    return type === "positional" ? ["something"] : [`--${name}`, "something"];
  }),
];

describe("every command", () => {
  it("takes what it needs, and nothing that it does not know", async () => {
    let count = 0;
    for await (const command of everyCommand(commands)) {
      count++;
      const enough = needed(command);
      await checkArguments(commands, enough);
      await assert.rejects(
        checkArguments(commands, [...enough, "--unheard-of"]),
        UsageError,
        enough.join(" "),
      );
      await assert.rejects(
        checkArguments(commands, [...enough, "and", "more"]),
        UsageError,
        enough.join(" "),
      );
    }
    assert.ok(count > 10);
  });

  it("answers any words at all with a usage error, or takes them", async () => {
    const word = fc.oneof(
      fc.constantFrom(
        "up",
        "storage",
        "erase",
        "token",
        "--tenant",
        "--yes",
        "--",
        "-",
        "--role=owner",
        "--help",
        "=",
        "",
      ),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 6 }), async (words) => {
        await checkArguments(commands, words).catch((error: unknown) =>
          assert.ok(error instanceof UsageError),
        );
      }),
    );
  });
});

describe("a slip is refused", () => {
  const SLIPS: Record<string, RegExp> = {
    "storage erase --tenant acme --objct nothing --yes": /no option --objct: did you mean --object\?/,
    "storage reconcile --dryrun": /no option --dryrun: did you mean --dry-run\?/,
    "token --tenant acme --rol member": /no option --rol: did you mean --role\?/,
    "token --tenant acme --role superuser": /--role is one of owner, admin, member, not "superuser"/,
    "token --tenant acme --type servce": /--type is one of user, service/,
    "token --tenant": /--tenant needs a value/,
    "token --tenant= --role owner": /--tenant needs a value/,
    "token --tenant --role owner": /--tenant needs a value, and --role looks like an option/,
    "token --tenant acme --tenant globex": /--tenant is given twice/,
    token: /--tenant is missing: Tenant id/,
    "publish --tenant acme": /TYPE is missing/,
    "tenants move --tenant acme --to eu2": /TENANT is given without --tenant/,
    "publish invoice.paid surplus --tenant acme": /"surplus" is one argument too many/,
    "up --demo=no": /--demo takes no value/,
    "up --no-demo": /no option --no-demo; it takes --demo/,
    "up -d": /no option -d/,
    "up production": /"production" is one argument too many/,
    "worker --demo": /no option --demo; it takes --wait/,
    "config --demo": /no option --demo; it takes --json/,
    "storage raconcile": /no command raconcile: did you mean reconcile\?/,
    frobnicate: /no command frobnicate; it takes up, api/,
    storage: /which command\? One of export/,
    "": /which command\? One of up/,
    toString: /no command toString/,
  };
  for (const [line, message] of Object.entries(SLIPS)) {
    it(`postern ${line}`, () => assert.rejects(check(line), { name: "UsageError", message }));
  }
});

describe("what is right is taken", () => {
  for (const line of [
    "up",
    "up --demo",
    "token --tenant acme --role member",
    "token --tenant=acme --expires=30m",
    "token --tenant=-odd-",
    "publish invoice.paid --tenant acme --data {}",
    "storage erase --help",
    "--help",
    "--version",
  ]) {
    it(`postern ${line}`, () => check(line));
  }
});
