import { setTimeout as delay } from "node:timers/promises";
import { defineCommand } from "citty";
import * as z from "zod";
import { environment, readAddress } from "../config.ts";
import { reasonOf } from "../shared/message-of.ts";
import { parseJson } from "../shared/parse-json.ts";
import { addressOf, describeStranger, parseAddress, URL_ARGUMENT } from "./client/api-client.ts";
import { withClearErrors } from "./command.ts";
import { parseWait } from "./parse-wait.ts";

const PATIENCE_MS = 5000;
const PAUSE_MS = 200;

/** Of both paths, so that a page of another program at this address does not pass for health. */
const wellAnswer = z.object({ status: z.enum(["ok", "ready"]) });

export const health = defineCommand({
  meta: {
    name: "health",
    description: "Check a running Postern; exits with 0 if it is healthy, else with 1",
  },
  args: {
    ready: {
      type: "boolean",
      description: "Check that it can work now, its database included; default: that it runs",
    },
    wait: {
      type: "string",
      default: "0s",
      description: "How long to wait for a Postern that is still starting, for example 60s",
    },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const at = parseAddress(args.url ?? addressOf(readAddress(environment())));
      const url = `${at}${args.ready === true ? "/ready" : "/health"}`;
      const end = performance.now() + parseWait(args.wait);
      let answer = await ask(url);
      while (!answer.isWell && performance.now() < end) {
        await delay(PAUSE_MS);
        answer = await ask(url);
      }
      const { isWell, words } = answer;
      console.log(words);
      if (!isWell) process.exitCode = 1;
    }),
});

async function ask(url: string): Promise<{ isWell: boolean; words: string }> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: "manual" });
    const text = await answer.text();
    const given = parseJson(text);
    const isPostern = answer.ok ? wellAnswer.safeParse(given).success : given !== null;
    if (isPostern) return { isWell: answer.ok, words: text };
    return { isWell: false, words: describeStranger(url, answer, text) };
  } catch (error) {
    return { isWell: false, words: `no answer from ${url}: ${reasonOf(error)}` };
  }
}
