import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { ArgDef, ArgsDef, CommandDef, CommandMeta } from "citty";
import * as fc from "fast-check";
import { runProgram } from "../../test/support/program.ts";
import { checkArguments, UsageError } from "./arguments.ts";
import { commands } from "./commands.ts";
import { usageOf } from "./usage.ts";

const check = (line: string) => checkArguments(commands, line.split(" ").filter(Boolean));

type Named = { words: string[]; args: ArgsDef; meta: CommandMeta };

/** What scripts rely on: every command, with its options, their choices and defaults; ! marks what must be given. */
const COMMAND_LINE = [
  "up --demo --workers=(1) --wait=(0s)",
  "api --wait=(0s)",
  "worker --wait=(0s)",
  "migrate --wait=(0s)",
  "config --json",
  "health --ready --wait=(0s) --url=",
  "doctor --json",
  "keys rotate --json",
  "keys status --json",
  "keys forget key",
  "catalog check [file]",
  "catalog diff file --tenant= --url=",
  "catalog import file",
  "audit --tenant= --since=(1d) --action=… --json",
  "token --tenant=! --type=user|service(user) --role=owner|admin|member --permissions= --subject=(cli) --expires=(1h)",
  "storage export --tenant=! --from=! --to= --endpoint= --type= --status= --format= --output= --json --url=",
  "storage library --tenant=! --kind=request_body|response_body|export --limit=(50) --after= --json --url=",
  "storage erase --tenant=! --object= --all --yes --json",
  "storage hold --tenant=! --object=! --end",
  "storage doctor --json",
  "storage own --take-over --json",
  "storage adopt --tenants= --dry-run --json",
  "storage trash list --tenant= --key= --json",
  "storage trash restore --tenant= --key= --all",
  "storage trash empty --tenant= --key= --days= --all --yes",
  "storage reconcile --dry-run --acknowledge= --json",
  "replay --tenant=! --endpoint=! --from=! --to= --select=(failed) --type= --cause= --dry-run --json --url=",
  "tenants list --prefix=() --json --url=",
  "tenants show --tenant=! --json --url=",
  "tenants move tenant --to= --dry-run --undo",
  "tenants erase --tenant=! --dry-run --yes --json --url=",
  "listen --forward=! --events=(*) --tenant= --secret= --replay= --json --url=",
  "portal --tenant= --role=owner|admin|member --read-only --subject= --minutes=(60) --url=",
  "deliveries [id] --tenant=! --endpoint= --status= --type= --event= --response= --error= --text= --from= --to= --limit= --json --url=",
  "publish type --data= --versions= --tenant=! --id= --url=",
];

async function metaOf({ meta }: CommandDef): Promise<CommandMeta> {
  return (await (typeof meta === "function" ? meta() : meta)) ?? {};
}

/** As in {@link COMMAND_LINE}. */
function described(name: string, arg: ArgDef): string {
  if (arg.type === "positional") return arg.required === false ? `[${name}]` : name;
  if (arg.type === "boolean") return `--${name}`;
  const choices = arg.type === "enum" ? (arg.options ?? []) : [];
  const shown = choices.length > 9 ? "…" : choices.join("|");
  return `--${name}=${shown}${arg.required === true ? "!" : ""}${arg.default === undefined ? "" : `(${arg.default})`}`;
}

/** Every command that runs, with what it takes. */
async function* everyCommand(command: CommandDef, words: string[] = []): AsyncGenerator<Named> {
  const subCommands = await (typeof command.subCommands === "function"
    ? command.subCommands()
    : command.subCommands);
  if (subCommands === undefined) {
    const args = (await (typeof command.args === "function" ? command.args() : command.args)) ?? {};
    yield { words, args, meta: await metaOf(command) };
    return;
  }
  for (const [name, subCommand] of Object.entries(subCommands)) {
    yield* everyCommand(await (typeof subCommand === "function" ? subCommand() : subCommand), [
      ...words,
      name,
    ]);
  }
}

async function subCommandOf({ subCommands }: CommandDef, word: string): Promise<CommandDef> {
  const all = (await (typeof subCommands === "function" ? subCommands() : subCommands)) ?? {};
  const found = all[word];
  const command = await (typeof found === "function" ? found() : found);
  assert.ok(command !== undefined, word);
  return command;
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
  it("has its options, choices and defaults", async () => {
    const found: string[] = [];
    for await (const { words, args } of everyCommand(commands)) {
      found.push([...words, ...Object.entries(args).map(([name, arg]) => described(name, arg))].join(" "));
    }
    assert.deepEqual(found, COMMAND_LINE);
  });

  it("has a help that names the whole command and fits a wide terminal", async () => {
    for await (const { words, args, meta } of everyCommand(commands)) {
      const lines = stripVTControlCharacters(await usageOf({ meta, args }, [...words, "--help"])).split("\n");
      const usage = lines.find((line) => line.startsWith("USAGE")) ?? "";
      assert.ok(`${usage} `.startsWith(`USAGE ${["postern", ...words].join(" ")} `), usage);
      const longest = Math.max(...lines.map((line) => line.trimEnd().length));
      assert.ok(longest <= 160, `postern ${words.join(" ")} --help is ${longest} columns wide`);
    }
  });

  it("says by its name what it does, and of each option what it is for", async () => {
    const groups = ["keys", "catalog", "storage", "tenants"].map((name) => [name]);
    for (const words of [[], ...groups, ["storage", "trash"]]) {
      let group: CommandDef = commands;
      for (const word of words) group = await subCommandOf(group, word);
      const { name, description = "" } = await metaOf(group);
      assert.equal(name, words.at(-1) ?? "postern");
      assert.match(description, /^[A-Z][^.]{9,}$/, name);
    }
    for await (const { words, args, meta } of everyCommand(commands)) {
      assert.equal(meta.name, words.at(-1));
      assert.match(meta.description ?? "", /^[A-Z][^.]{9,}/, words.join(" "));
      for (const [name, { description = "" }] of Object.entries(args)) {
        assert.match(description, /^.{5,}$/, [...words, name].join(" "));
      }
    }
  });

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
    "up --version": /no option --version/,
    "keys rotate --version": /no option --version/,
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

describe("help and version", () => {
  for (const [words, option] of [
    ["help", "--help"],
    ["help storage", "storage --help"],
    ["help storage export", "storage export --help"],
    ["version", "--version"],
  ] as const) {
    it(`postern ${words} is postern ${option}`, async () => {
      const [asWords, asOption] = await Promise.all(
        [words, option].map((line) => runProgram(line.split(" "), {})),
      );
      assert.equal(asOption?.code, 0);
      assert.deepEqual(asWords, asOption);
    });
  }
});
