/**
 * Checks a signed request as a receiver does, step by step, and says what is
 * wrong. Where a signature does not match, it undoes the changes that requests
 * and secrets often suffer, one by one, and tells which of them makes it match.
 */
import { bodyGuesses, isEnvelope, type BodyChange } from "./bodies.ts";
import { parseHeaders } from "./headers.ts";
import { readSecret, type Keys, type Secret, type SecretFault } from "./secrets.ts";
import { hexOf, readService, readStandard, type FormFault, type Signatures } from "./signatures.ts";

/** All that a person pastes; nothing of it is kept. */
export type Request = { headers: string; body: string; secret: string };

type HeaderCode = "missing" | "twice" | "unread" | "noHeaders" | "both" | "standardAlone" | "serviceAlone";
type TimeCode = "recent" | "old" | "ahead" | "milliseconds" | "notSeconds" | "timesDiffer" | "noTime";
type SecretCode = SecretFault | "secretStandard" | "secretOwn";
type FormCode = FormFault | "one" | "several" | "otherVersions";
type MatchCode =
  | BodyChange
  | "matches"
  | "secretMended"
  | "idChanged"
  | "formerSecret"
  | "headerChanged"
  | "notEnvelope"
  | "noMatch"
  | "notChecked";
export type Code = HeaderCode | TimeCode | SecretCode | FormCode | MatchCode;

/** `value`: a name, a count, or seconds for `recent`, `old` and `ahead`. `header`: which signature it is about. */
export type Finding = {
  code: Code;
  tone: "good" | "bad" | "wait" | "plain";
  value?: string;
  header?: string;
};
export type StepName = "headers" | "time" | "secret" | "form" | "match";
export type Step = { name: StepName; findings: Finding[] };
/** `late`: the signature is right, and a receiver would refuse the request for its age. */
export type Verdict = "right" | "late" | "wrong";
export type Report = { verdict: Verdict; steps: Step[] };

const STANDARD = "webhook-signature";
const SERVICE = "X-Service-Signature";
const TOLERANCE_S = 300;
const NEEDED = {
  [STANDARD]: ["webhook-id", "webhook-timestamp", "webhook-signature"],
  [SERVICE]: ["x-service-timestamp", "x-service-signature"],
} as const;

type Scheme = {
  header: typeof STANDARD | typeof SERVICE;
  /** What is signed, before the body. */
  head: string;
  signatures: Signatures;
  keyOf: (keys: Keys) => Uint8Array<ArrayBuffer>;
};

export async function check(request: Request, now: Date): Promise<Report> {
  const { values, unread } = parseHeaders(request.headers);
  const only = (name: string): string => values.get(name)?.[0] ?? "";
  const schemes = schemesOf(only);
  const secret = readSecret(request.secret);
  const matches = await Promise.all(schemes.map((scheme) => match(scheme, request.body, secret)));
  const steps: Step[] = [
    { name: "headers", findings: headerFindings(values, unread) },
    { name: "time", findings: timeFindings(only, now) },
    { name: "secret", findings: secretFindings(request.secret, secret) },
    { name: "form", findings: schemes.flatMap(formFindings) },
    { name: "match", findings: matchFindings(schemes, matches, request.body) },
  ];
  return { verdict: verdictOf(steps), steps };
}

function schemesOf(only: (name: string) => string): Scheme[] {
  const schemes: Scheme[] = [];
  if (NEEDED[STANDARD].every((name) => only(name) !== "")) {
    schemes.push({
      header: STANDARD,
      head: `${only("webhook-id")}.${only("webhook-timestamp")}.`,
      signatures: readStandard(only("webhook-signature")),
      keyOf: ({ decoded }) => decoded,
    });
  }
  if (NEEDED[SERVICE].every((name) => only(name) !== "")) {
    schemes.push({
      header: SERVICE,
      head: `${only("x-service-timestamp")}.`,
      signatures: readService(only("x-service-signature")),
      keyOf: ({ whole }) => whole,
    });
  }
  return schemes;
}

function headerFindings(values: ReadonlyMap<string, readonly string[]>, unread: string | null): Finding[] {
  const has = (name: string): boolean => (values.get(name)?.[0] ?? "") !== "";
  const isBegun = (names: readonly string[]): boolean => names.some(has);
  const [standard, service] = [NEEDED[STANDARD], NEEDED[SERVICE]];
  const findings: Finding[] = [];
  if (!isBegun(standard) && !isBegun(service)) findings.push({ code: "noHeaders", tone: "bad" });
  for (const names of [standard, service].filter(isBegun)) {
    for (const name of names) if (!has(name)) findings.push({ code: "missing", tone: "bad", value: name });
    for (const name of names) {
      if (new Set(values.get(name)).size > 1) findings.push({ code: "twice", tone: "bad", value: name });
    }
  }
  if (findings.length === 0) {
    const code = !isBegun(service) ? "standardAlone" : isBegun(standard) ? "both" : "serviceAlone";
    findings.push({ code, tone: "good" });
  }
  if (unread !== null) findings.push({ code: "unread", tone: "plain", value: unread.slice(0, 80) });
  return findings;
}

function timeFindings(only: (name: string) => string, now: Date): Finding[] {
  const [standard, service] = [only("webhook-timestamp"), only("x-service-timestamp")];
  const given = standard === "" ? service : standard;
  if (given === "") return [{ code: "noTime", tone: "bad" }];
  const findings: Finding[] = [];
  if (standard !== "" && service !== "" && standard !== service) {
    findings.push({ code: "timesDiffer", tone: "bad" });
  }
  if (/^\d{13}$/.test(given)) return [...findings, { code: "milliseconds", tone: "bad", value: given }];
  if (!/^\d{1,12}$/.test(given)) return [...findings, { code: "notSeconds", tone: "bad", value: given }];
  const age = Math.round(now.getTime() / 1000 - Number(given));
  const value = String(Math.abs(age));
  if (age > TOLERANCE_S) findings.push({ code: "old", tone: "wait", value });
  else if (age < -TOLERANCE_S) findings.push({ code: "ahead", tone: "wait", value });
  else findings.push({ code: "recent", tone: "good", value });
  return findings;
}

function secretFindings(given: string, { faults }: Secret): Finding[] {
  if (faults.length > 0) return faults.map((code) => ({ code, tone: "bad" }));
  return [{ code: given.startsWith("whsec_") ? "secretStandard" : "secretOwn", tone: "good" }];
}

function formFindings({ header, signatures: { hex, faults, others } }: Scheme): Finding[] {
  const findings: Finding[] = faults.map((code) => ({ code, tone: "bad", header }));
  if (others.length > 0)
    findings.push({ code: "otherVersions", tone: "plain", header, value: others.join(", ") });
  if (hex.length > 1) findings.push({ code: "several", tone: "good", header, value: String(hex.length) });
  else if (faults.length === 0) findings.push({ code: "one", tone: "good", header });
  return findings;
}

/** How it matches: `null` not at all, else what had to be undone; nothing for an unchanged request. */
type Match = { body: BodyChange | null; isSecretMended: boolean; place: number } | null;

async function match({ head, signatures, keyOf }: Scheme, body: string, secret: Secret): Promise<Match> {
  const bodies = [{ change: null, body }, ...bodyGuesses(body)];
  const tried = [
    ...(secret.keys === null ? [] : [{ keys: secret.keys, isMended: false }]),
    ...secret.mended.map((keys) => ({ keys, isMended: true })),
  ];
  for (const { keys, isMended } of tried) {
    const sign = await signerOf(keyOf(keys));
    for (const guess of bodies) {
      const place = signatures.hex.indexOf(await sign(head + guess.body));
      if (place !== -1) return { body: guess.change, isSecretMended: isMended, place };
    }
  }
  return null;
}

async function signerOf(key: Uint8Array<ArrayBuffer>): Promise<(message: string) => Promise<string>> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  return async (message) => {
    const signature = await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(message));
    return hexOf(new Uint8Array(signature));
  };
}

function matchFindings(schemes: readonly Scheme[], matches: readonly Match[], body: string): Finding[] {
  if (schemes.length === 0) return [{ code: "notChecked", tone: "plain" }];
  const some = matches.find((one) => one !== null);
  const findings = schemes.flatMap(({ header, signatures }, index): Finding[] => {
    const match = matches[index] ?? null;
    if (match !== null) return foundFindings(header, match, signatures.hex.length);
    if (some === undefined) return [{ code: "noMatch", tone: "bad", header }];
    // The other one is right, so the body, its time and the secret are too.
    const isRotated = schemes.some((one) => one.header === STANDARD && one.signatures.hex.length > 1);
    const isFormer = header === SERVICE && isRotated;
    if (isFormer) return [{ code: "formerSecret", tone: "wait", header }];
    return [{ code: header === STANDARD ? "idChanged" : "headerChanged", tone: "bad", header }];
  });
  if (some === undefined && !isEnvelope(body)) findings.push({ code: "notEnvelope", tone: "wait" });
  return findings;
}

function foundFindings(
  header: string,
  { body, isSecretMended, place }: NonNullable<Match>,
  count: number,
): Finding[] {
  const findings: Finding[] = [];
  if (body !== null) findings.push({ code: body, tone: "bad", header });
  if (isSecretMended) findings.push({ code: "secretMended", tone: "bad", header });
  if (findings.length > 0) return findings;
  return [{ code: "matches", tone: "good", header, ...(count > 1 && { value: String(place + 1) }) }];
}

function verdictOf(steps: readonly Step[]): Verdict {
  const all = steps.flatMap(({ findings }) => findings);
  const isMatched = all.some(({ code }) => code === "matches");
  if (!isMatched || all.some(({ tone }) => tone === "bad")) return "wrong";
  return all.some(({ code }) => code === "old" || code === "ahead") ? "late" : "right";
}
