/** What may have happened to a body on its way: each guess undoes one change. */

export type BodyChange =
  | "trailingSpace"
  | "newlineLost"
  | "lineEnds"
  | "bom"
  | "spaces"
  | "escapes"
  | "order"
  | "quoted"
  | "markup";

export type BodyGuess = { change: BodyChange; body: string };

const ENVELOPE = ["id", "event", "created_at", "data", "_test"];
const ENTITIES: Readonly<Record<string, string>> = {
  "&quot;": '"',
  "&#34;": '"',
  "&#39;": "'",
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
};

/** Bodies that may have been sent in place of this one, without this one itself. */
export function bodyGuesses(body: string): BodyGuess[] {
  const guesses: BodyGuess[] = [
    { change: "bom", body: body.replace(/^\uFEFF/, "") },
    { change: "trailingSpace", body: body.trim() },
    { change: "newlineLost", body: `${body}\n` },
    { change: "lineEnds", body: body.replaceAll("\n", "\r\n") },
    { change: "spaces", body: withoutSpaces(body) },
    {
      change: "markup",
      body: body.replaceAll(/&(?:quot|lt|gt|amp|#3[49]);/g, (one) => ENTITIES[one] ?? one),
    },
    {
      change: "quoted",
      body: body
        .trim()
        .replace(/^(["'])(.*)\1$/s, "$2")
        .replaceAll('\\"', '"'),
    },
  ];
  const parsed = parse(body);
  if (typeof parsed === "string") guesses.push({ change: "quoted", body: parsed });
  if (isObject(parsed)) {
    guesses.push({ change: "escapes", body: JSON.stringify(parsed) });
    guesses.push({ change: "order", body: JSON.stringify(inOrder(parsed)) });
  }
  return guesses.filter((guess) => guess.body !== body);
}

/** Whether it is the whole body of an event or a test, which has its type in `event`. */
export function isEnvelope(body: string): boolean {
  const parsed = parse(body);
  return isObject(parsed) && "event" in parsed && "data" in parsed;
}

/** Without what stands between the parts of JSON. Numbers and escapes stay as they are. */
function withoutSpaces(body: string): string {
  return body.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/gs, "$1");
}

function inOrder(object: object): object {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => placeOf(one) - placeOf(other)));
}

function placeOf(name: string): number {
  const known = ENVELOPE.indexOf(name);
  return known === -1 ? ENVELOPE.length : known;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
