/** A command of curl, as this portal, a browser or a log shows it, read as a shell would read it. */

/** Headers as lines; `body` null where none is given. */
export type Command = { headers: string; body: string | null };

const COMMAND = /^\s*(?:\$\s+)?curl\s/;
const HEADER = /^(?:-H|--header=)(.*)$/s;
const DATA = /^(?:-d|--data(?:-raw|-binary|-ascii)?=)(.*)$/s;
/** So curl sends a header whose value is empty. */
const WITHOUT_VALUE = /^([^:;]+);$/;
const LONG_HEADER = "--header";
const LONG_DATA = /^--data(?:-raw|-binary|-ascii)?$/;

/** Null for a text that is no such command. */
export function readCurl(text: string): Command | null {
  if (!COMMAND.test(text)) return null;
  const words = wordsOf(text);
  const headers: string[] = [];
  let body: string | null = null;
  for (let place = 0; place < words.length; place++) {
    const word = words[place] ?? "";
    const [, header] = HEADER.exec(word) ?? [];
    const [, data] = DATA.exec(word) ?? [];
    // An option's value is behind it, or the next word.
    const value = (given: string | undefined): string | undefined =>
      given === undefined || given === "" ? words[++place] : given;
    if (header !== undefined || word === LONG_HEADER) {
      const line = value(header);
      if (line !== undefined) headers.push(line.replace(WITHOUT_VALUE, "$1:"));
    } else if (data !== undefined || LONG_DATA.test(word)) body = value(data) ?? null;
  }
  return { headers: headers.join("\n"), body };
}

/** One part of a word: in single quotes, in those of `$'…'`, in double quotes, or bare. The last may lack its end. */
const PART = /'([^']*)'?|\$'((?:[^'\\]|\\[^])*)'?|"((?:[^"\\]|\\[^])*)"?|((?:[^\s'"\\$]|\\[^]|\$(?!'))+)/gy;
const SPACE = /(?:\s|\\\r?\n)+/y;

function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (let at = 0; at < text.length;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    let word: string | null = null;
    for (;;) {
      PART.lastIndex = at;
      const found = at < text.length && !startsLine(text, at) ? PART.exec(text) : null;
      if (found === null) break;
      word = (word ?? "") + meantBy(found);
      at = PART.lastIndex;
    }
    if (word === null) break;
    words.push(word);
  }
  return words;
}

/** A backslash at the end of a line goes on with the next line. */
function startsLine(text: string, at: number): boolean {
  return /^\\\r?\n/.test(text.slice(at, at + 3));
}

function meantBy([, single, escaped, double, bare]: RegExpExecArray): string {
  if (single !== undefined) return single;
  if (escaped !== undefined) return escaped.replace(ESCAPE, meantByEscape);
  if (double !== undefined) return double.replace(/\\\n/g, "").replace(/\\([$`"\\])/g, "$1");
  return (bare ?? "").replace(/\\\n/g, "").replace(/\\([^])/g, "$1");
}

const ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([^]))/g;
const NAMED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v" };

function meantByEscape(_whole: string, ...parts: (string | undefined)[]): string {
  const [byte, short, long, named = ""] = parts;
  const code = byte ?? short ?? long;
  if (code !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10_ff_ff));
  return NAMED[named] ?? named;
}
