/** Compares the rules for URLs and addresses with the second opinion of url-oracle.ts on generated inputs. */
import { judgeAddress, makeAddressPolicy } from "../../src/outbound/address-rules.ts";
import { parseWebhookUrl } from "../../src/outbound/url-rules.ts";
import { Address6 } from "ip-address";
import { randomFrom } from "./chance.ts";
import { hostileAddress, hostileUrl } from "./hostile-urls.ts";
import { oracleTakesAddress, oracleTakesUrl, type Opinion } from "./url-oracle.ts";

export type Disagreement = { kind: "url" | "address"; input: string; rules: string; oracle: string };
export type FuzzResult = { inputs: number; accepted: number; disagreement: Disagreement | null };

type Judge = (text: string) => string;

const POLICY = { blockedPorts: new Set([0, 22, 25, 6379]), privateTargetsAllowed: false };
const ADDRESSES = makeAddressPolicy({ allowedCidrs: [], deniedCidrs: [] });

/** The same inputs for the same seed; every fourth is an address. Stops at the first disagreement, cut down. */
export function fuzz(count: number, seed: number): FuzzResult {
  const random = randomFrom(seed);
  let accepted = 0;
  for (let index = 0; index < count; index++) {
    const kind = index % 4 === 3 ? "address" : "url";
    const input = kind === "url" ? hostileUrl(random) : hostileAddress(random);
    const [rules, oracle] = JUDGES[kind];
    if (rules(input) !== oracle(input)) {
      return { inputs: index + 1, accepted, disagreement: cutDown(kind, input) };
    }
    if (rules(input) !== "unsafe") accepted++;
  }
  return { inputs: count, accepted, disagreement: null };
}

const JUDGES: Record<Disagreement["kind"], [rules: Judge, oracle: Judge]> = {
  url: [urlByRules, (text) => oracleTakesUrl(text, POLICY)],
  address: [
    (text) => (judgeAddress(text, ADDRESSES).ok ? "safe" : "unsafe"),
    (text) => (oracleTakesAddress(text) ? "safe" : "unsafe"),
  ],
};

function urlByRules(text: string): Opinion {
  const verdict = parseWebhookUrl(text, POLICY);
  if (!verdict.ok) return "unsafe";
  const { host, port, isIp } = verdict.url;
  if (!isIp) return `${host} ${port}`;
  if (!judgeAddress(host, ADDRESSES).ok) return "unsafe";
  return `${host.includes(":") ? new Address6(host).correctForm() : host} ${port}`;
}

/** Takes out pieces, long ones first, for as long as the two still disagree. */
function cutDown(kind: Disagreement["kind"], input: string): Disagreement {
  const [rules, oracle] = JUDGES[kind];
  let text = input;
  for (let length = Math.ceil(text.length / 2); length >= 1;) {
    const shorter = Array.from(
      { length: text.length },
      (_, at) => text.slice(0, at) + text.slice(at + length),
    ).find((candidate) => candidate.length < text.length && rules(candidate) !== oracle(candidate));
    if (shorter === undefined) length = length === 1 ? 0 : Math.ceil(length / 2);
    else text = shorter;
  }
  return { kind, input: text, rules: rules(text), oracle: oracle(text) };
}
