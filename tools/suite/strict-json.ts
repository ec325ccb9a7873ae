/**
 * Strict JSON: one spelling of each value (rule L-1).
 *
 * `JSON.parse` keeps the last of two equal keys and rounds big integers without
 * a word; two runners that read a case differently would judge different cases.
 */
import type { Json, JsonObject } from "./json.ts";

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 32;
const NUMBER = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const SPACE = /[ \n\t]*/y;
const WORDS = new Map<string, Json>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** The text is not strict JSON; the message says why and where. */
export class StrictJsonError extends Error {}

/** Reads a file's bytes. */
export function parseStrictBytes(bytes: Uint8Array): Json {
  if (bytes.length > MAX_BYTES) throw new StrictJsonError(`longer than ${MAX_BYTES} bytes`);
  try {
    return parseStrictText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) throw new StrictJsonError("is not UTF-8", { cause: error });
    throw error;
  }
}

/** Reads a text. */
export function parseStrictText(text: string): Json {
  const reader = new Reader(text);
  const value = reader.value(1);
  reader.end();
  return value;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Json {
    this.#take(SPACE);
    const next = this.#text[this.#at];
    if (next === "{") return this.#object(depth);
    if (next === "[") return this.#list(depth);
    if (next === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#number();
  }

  end(): void {
    this.#take(SPACE);
    if (this.#at !== this.#text.length) this.#fail("has more after its end");
  }

  #object(depth: number): JsonObject {
    const result: JsonObject = {};
    for (const first of this.#items("{", "}", depth)) {
      if (!first) this.#expect(",");
      this.#take(SPACE);
      const name = this.#string();
      if (name === "__proto__" || Object.hasOwn(result, name)) this.#fail(`has the key "${name}" wrongly`);
      this.#take(SPACE);
      this.#expect(":");
      result[name] = this.value(depth + 1);
    }
    return result;
  }

  #list(depth: number): Json[] {
    const result: Json[] = [];
    for (const first of this.#items("[", "]", depth)) {
      if (!first) this.#expect(",");
      result.push(this.value(depth + 1));
    }
    return result;
  }

  /** Yields once for each item to be read, true for the first. */
  *#items(open: string, close: string, depth: number): Generator<boolean> {
    if (depth > MAX_DEPTH) this.#fail(`is deeper than ${MAX_DEPTH} levels`);
    this.#expect(open);
    let first = true;
    for (;;) {
      this.#take(SPACE);
      if (this.#text[this.#at] === close) break;
      yield first;
      first = false;
    }
    this.#at += 1;
  }

  #string(): string {
    const lexeme = this.#take(STRING);
    if (lexeme === "") this.#fail("lacks a string");
    const value = this.#unescape(lexeme);
    if (typeof value !== "string" || !value.isWellFormed()) this.#fail("has a lone surrogate");
    return value;
  }

  /** Of a single string the built-in reader is strict enough: escapes and control characters. */
  #unescape(lexeme: string): unknown {
    try {
      return JSON.parse(lexeme);
    } catch {
      return this.#fail("has a malformed string");
    }
  }

  #number(): number {
    const lexeme = this.#take(NUMBER);
    const value = Number(lexeme);
    if (!/^(?:0|-?[1-9][0-9]*)$/.test(lexeme) || !Number.isSafeInteger(value)) {
      this.#fail(lexeme === "" ? "has something that is no value" : `has the number ${lexeme}`);
    }
    return value;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [match = ""] = pattern.exec(this.#text) ?? [];
    this.#at += match.length;
    return match;
  }

  #expect(mark: string): void {
    if (this.#text[this.#at] !== mark) this.#fail(`lacks "${mark}"`);
    this.#at += 1;
  }

  #fail(what: string): never {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    throw new StrictJsonError(`${what} at line ${line}`);
  }
}
