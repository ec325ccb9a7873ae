/**
 * Members that were most likely meant to be others. Ignored, `{"event": ["invoice.paid"]}`
 * would subscribe an endpoint to everything.
 *
 * A name is a slip of a known one when both have the same letters but for case,
 * `_` and `-`; when it is one edit, or one swap of neighbours, away and both have
 * four letters or more; or when other products call that member so.
 */
import { letters } from "../shared/near-name.ts";

const MIN_LETTERS = 4;
/** More than any known name or alias has; a longer name costs one look at its length. */
const MAX_LENGTH = 64;

/** Names in other products of the same kind, by ours, without case and separators. A name may stand for several of ours. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  url: [
    "endpoint",
    "endpointurl",
    "webhookurl",
    "callbackurl",
    "targeturl",
    "deliveryurl",
    "address",
    "target",
    "uri",
  ],
  events: [
    "event",
    "eventtype",
    "eventtypes",
    "eventnames",
    "eventfilter",
    "eventfilters",
    "filtertypes",
    "enabledevents",
    "subscribedevents",
    "subscriptions",
    "subscribedto",
    "topic",
    "topics",
  ],
  enabled: ["active", "isactive", "inactive", "isenabled", "disabled", "isdisabled", "paused", "ispaused"],
  mode: ["deliverymode", "deliverytype"],
  wait_s: ["wait", "waitseconds", "waittime", "waittimeseconds", "timeout"],
  lease_id: ["lease", "receipt", "receipthandle", "ackid"],
  acks: ["ack", "ackids", "acknowledgements", "deliveries", "events"],
  rate_limit: ["throttle", "throttlerate", "ratelimitpersecond", "maxpersecond", "requestspersecond"],
  headers: ["customheaders", "httpheaders", "requestheaders", "staticheaders", "extraheaders"],
  secret: [
    "signingsecret",
    "signingkey",
    "webhooksecret",
    "sharedsecret",
    "secretkey",
    "secrettoken",
    "hmacsecret",
  ],
  masked_headers: ["sensitiveheaders", "secretheaders", "hiddenheaders"],
  grace_seconds: [
    "grace",
    "gracehours",
    "graceminutes",
    "graceperiod",
    "graceperiodseconds",
    "gracetime",
    "overlapseconds",
  ],
  event_type: ["event", "eventtypes", "eventname", "type", "topic", "topics", "filtertypes"],
  type: ["event", "eventtype", "eventname", "topic"],
  data: ["payload", "body"],
  id: ["eventid", "messageid", "idempotencykey"],
  tenant_id: ["tenant", "applicationid", "appid", "organizationid", "accountid"],
  limit: ["pagesize", "perpage", "maxmessages", "batchsize"],
  from: ["since", "startdate", "starttime"],
  to: ["until", "enddate", "endtime"],
  response_status: ["statuscode", "responsecode", "responsestatuscode", "httpstatus"],
};

/** What slips are looked for among: see {@link knowNames}. */
export type KnownNames = {
  names: readonly string[];
  byLetters: ReadonlyMap<string, string>;
};

/** The names of an object's members, made ready once. */
export function knowNames(names: readonly string[]): KnownNames {
  const aliases = names.flatMap((name) => (ALIASES[name] ?? []).map((alias) => [alias, name] as const));
  // The last one counts: a known name's own letters win over an alias.
  return { names, byLetters: new Map([...aliases, ...names.map((name) => [letters(name), name] as const)]) };
}

/** The known name that an unknown one was most likely meant to be, or null. */
export function slipOf(name: string, known: KnownNames): string | null {
  if (name.length > MAX_LENGTH) return null;
  const own = letters(name);
  const same = known.byLetters.get(own);
  if (same !== undefined) return same;
  if (own.length < MIN_LETTERS) return null;
  return known.names.find((other) => letters(other).length >= MIN_LETTERS && isOneOff(name, other)) ?? null;
}

/** Whether two different texts are one insertion, removal or change of a character, or one swap of neighbours, apart. */
function isOneOff(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  const [leftRest, rightRest] = [left.slice(start), right.slice(start)];
  return (
    leftRest.slice(1) === rightRest.slice(1) ||
    leftRest.slice(1) === rightRest ||
    leftRest === rightRest.slice(1) ||
    (leftRest.slice(2) === rightRest.slice(2) && leftRest[0] === rightRest[1] && leftRest[1] === rightRest[0])
  );
}
