/**
 * The small changes that `npm run mutate -- --sql` makes to a statement, one at
 * a time: slips that leave it valid. A condition is dropped, a column keeps its
 * value, a boundary, an order or a lock is another.
 *
 * What is dropped stays in the text (`x = $1 OR true`): else PostgreSQL would
 * refuse the statement, for it could not tell the type of `$1`.
 */

/** Stands for what the program puts into a statement, `${…}` in its template. */
export const HOLE = "\uE000";

/** `text[start..end)` becomes `by`. */
export type SqlChange = { start: number; end: number; by: string };

type Token = { word: string; start: number; end: number; depth: number };

const TOKEN =
  /--[^\n]*|'(?:[^']|'')*'|"[^"]*"|\$\d+|[a-z_][\w.]*|\d+(?:\.\d+)?|<>|<=|>=|!=|=>|->>|->|@>|<@|<<|>>|\|\||::|\S/gi;
const BEFORE_CONDITION = new Set(["WHERE", "ON", "AND", "OR", "WHEN", "HAVING"]);
const AFTER_EXPRESSION = new Set(
  "AS FROM AND OR THEN ELSE END WHERE GROUP ORDER LIMIT OFFSET RETURNING FOR UNION JOIN LEFT CROSS INNER HAVING WHEN DO ON SET WINDOW VALUES SELECT ; ,".split(
    " ",
  ),
);
const AFTER_ASSIGNMENT = new Set(["FROM", "WHERE", "RETURNING", ",", ";"]);
const AFTER_ORDER = new Set(["LIMIT", "OFFSET", "FOR", "ROWS", "RANGE", "UNION", ";", ","]);
const SWAPPED = new Map([
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
  ["LEAST", "greatest"],
  ["GREATEST", "least"],
  ["MIN", "max"],
  ["MAX", "min"],
  ["TRUE", "false"],
  ["FALSE", "true"],
]);
/** Before a sign, they tell that it has no left side. Keywords are written in capitals. */
const WITHOUT_VALUE = /^(?:[-+*/(,=<>]|<=|>=|<>|\|\||[A-Z]*)$/;
const LENGTH_OF_TIME = /^(?:INTERVAL|MAKE_INTERVAL|\$\d+|\uE000)$/;
const VALUE = /^(?:\uE000|[a-z_"'$\d].*|[)\]])$/s;
const DEFINITION = /^\s*(?:CREATE|ALTER|GRANT|REVOKE|DROP|COMMENT)\b/i;

export function changesOf(text: string): SqlChange[] {
  if (DEFINITION.test(text)) return [];
  const statement = new Statement(text);
  // A part of a statement may begin with a condition.
  const changes: SqlChange[] = statement.withoutCondition(-1);
  for (const at of statement.tokens.keys()) {
    changes.push(
      ...statement.withoutCondition(at),
      ...statement.withoutAssignments(at),
      ...statement.otherOrder(at),
      ...statement.withoutLock(at),
      ...statement.otherWord(at),
    );
  }
  return changes.toSorted((one, other) => one.start - other.start);
}

/** The methods give the changes that begin at a token. */
class Statement {
  readonly #text: string;
  readonly tokens: readonly Token[];

  constructor(text: string) {
    this.#text = text;
    this.tokens = tokensOf(text);
  }

  withoutCondition(at: number): SqlChange[] {
    const isFirst = at === -1 || this.#word(at) === "(";
    if (!isFirst && (!BEFORE_CONDITION.has(this.#word(at)) || !this.#beginsCondition(at))) return [];
    const end = this.#withoutLastHole(at + 1, this.#endOf(at + 1, AFTER_EXPRESSION));
    const first = this.tokens[at + 1];
    const last = this.tokens[end - 1];
    // Else the parenthesis is a condition's own, or what begins here is no condition.
    if (isFirst && this.#word(end) !== "AND" && this.#word(end) !== "OR") return [];
    // Of a simple CASE, or nothing to drop.
    if (first === undefined || last === undefined || end === at + 1) return [];
    if (end === at + 2 && /^(?:'.*|true|false)$/is.test(first.word)) return [];
    const isAlternative = this.#word(at) === "OR" || this.#word(end) === "OR";
    return [this.#around(first, last, "(", isAlternative ? " AND false)" : " OR true)")];
  }

  #beginsCondition(at: number): boolean {
    if (this.#word(at) === "ON") {
      return (
        this.#word(at - 1) !== "DISTINCT" && !["CONFLICT", "DELETE", "UPDATE"].includes(this.#word(at + 1))
      );
    }
    if (this.#word(at) !== "AND") return true;
    // The second half of BETWEEN … AND.
    const depth = this.tokens[at]?.depth ?? 0;
    for (let before = at - 1; before >= 0; before -= 1) {
      const token = this.tokens[before];
      if (token === undefined || token.depth < depth) return true;
      if (token.depth > depth) continue;
      if (this.#word(before) === "BETWEEN") return false;
      if (BEFORE_CONDITION.has(this.#word(before))) return true;
    }
    return true;
  }

  /** `SET a = …, b = …` of an UPDATE or of ON CONFLICT. */
  withoutAssignments(at: number): SqlChange[] {
    const row = this.#word(at) === "SET" ? this.#changedRow(at) : null;
    if (row === null) return [];
    const changes: SqlChange[] = [];
    for (let name = at + 1; this.#word(name + 1) === "=";) {
      const end = this.#endOf(name + 2, AFTER_ASSIGNMENT);
      const first = this.tokens[name + 2];
      const last = this.tokens[end - 1];
      if (first === undefined || last === undefined) break;
      if (this.#word(name + 2) !== "DEFAULT") {
        const column = `${row}.${this.tokens[name]?.word}`;
        changes.push(this.#around(first, last, `CASE WHEN true THEN ${column} ELSE `, " END"));
      }
      if (this.#word(end) !== ",") break;
      name = end + 1;
    }
    return changes;
  }

  /** How the row is named whose columns are set; null where this SET is no UPDATE's. */
  #changedRow(set: number): string | null {
    const depth = this.tokens[set]?.depth;
    for (let at = set - 1; at >= 0; at -= 1) {
      if (this.tokens[at]?.depth !== depth) continue;
      const word = this.#word(at);
      const isTarget = (word === "UPDATE" && this.#word(at - 1) !== "DO") || word === "INTO";
      if (!isTarget) continue;
      const alias = this.tokens[at + (this.#word(at + 2) === "AS" ? 3 : 2)];
      if (alias !== undefined && /^[a-z]\w*$/i.test(alias.word) && this.#word(at + 2) !== "SET")
        return alias.word;
      return this.tokens[at + 1]?.word.split(".").at(-1) ?? null;
    }
    return null;
  }

  otherOrder(at: number): SqlChange[] {
    if (this.#word(at) !== "ORDER" || this.#word(at + 1) !== "BY") return [];
    const changes: SqlChange[] = [];
    for (let first = at + 2; first < this.tokens.length;) {
      const end = this.#endOf(first, AFTER_ORDER);
      if (end === first) break;
      const direction = this.tokens[this.#find(first, end, /^(?:ASC|DESC)$/) ?? -1];
      const last = this.tokens[(this.#find(first, end, /^NULLS$/) ?? end) - 1];
      if (direction !== undefined) {
        const { start, end: behind, word } = direction;
        changes.push({ start, end: behind, by: /^desc$/i.test(word) ? "ASC" : "DESC" });
      } else if (last !== undefined) changes.push({ start: last.end, end: last.end, by: " DESC" });
      if (this.#word(end) !== ",") break;
      first = end + 1;
    }
    return changes;
  }

  withoutLock(at: number): SqlChange[] {
    const token = this.tokens[at];
    if (token === undefined) return [];
    if (this.#word(at) === "SKIP" && this.#word(at + 1) === "LOCKED")
      return [{ start: token.start, end: this.tokens[at + 1]?.end ?? token.end, by: "" }];
    if (this.#word(at) !== "FOR") return [];
    let last = at + 1;
    while (/^(?:NO|KEY)$/.test(this.#word(last))) last += 1;
    if (!/^(?:UPDATE|SHARE)$/.test(this.#word(last))) return [];
    if (this.#word(last + 1) === "OF") last += 2;
    if (/^(?:SKIP|NOWAIT)$/.test(this.#word(last + 1))) last += this.#word(last + 1) === "SKIP" ? 2 : 1;
    return [{ start: token.start, end: this.tokens[last]?.end ?? token.end, by: "" }];
  }

  otherWord(at: number): SqlChange[] {
    const token = this.tokens[at];
    if (token === undefined) return [];
    const { start, end } = token;
    const word = this.#word(at);
    const swapped = SWAPPED.get(word);
    if (swapped !== undefined) {
      const isFunction = /^(?:LEAST|GREATEST|MIN|MAX)$/.test(word);
      const isLone = /^(?:TRUE|FALSE)$/.test(word) && this.#word(at - 1) === "ON";
      return (isFunction && this.#word(at + 1) !== "(") || isLone ? [] : [{ start, end, by: swapped }];
    }
    if ((word === "+" || word === "-") && this.#hasOtherSign(at))
      return [{ start, end, by: word === "+" ? "-" : "+" }];
    if (word === "LIMIT" && this.#word(at + 1) !== "ALL") return this.#oneMore(at + 1);
    if (word === "DISTINCT") return this.#withoutDistinct(at);
    if (word === "CONFLICT" && this.#word(at - 1) === "ON") return this.#withoutConflict(at);
    return [];
  }

  #hasOtherSign(at: number): boolean {
    if (WITHOUT_VALUE.test(this.tokens[at - 1]?.word ?? "")) return false;
    // A time has a time taken from it, but never added.
    const isOfTime = /^(?:NOW|CLOCK_TIMESTAMP)$/.test(this.#word(at - 3)) && this.#word(at - 2) === "(";
    return !isOfTime || LENGTH_OF_TIME.test(this.#word(at + 1));
  }

  #oneMore(at: number): SqlChange[] {
    const first = this.tokens[at];
    const last = this.tokens[this.#endOf(at, AFTER_EXPRESSION) - 1];
    return first === undefined || last === undefined ? [] : [this.#around(first, last, "(", ") + 1")];
  }

  #withoutDistinct(at: number): SqlChange[] {
    const token = this.tokens[at];
    const from = this.tokens[at + 1];
    if (token === undefined || from === undefined || this.#word(at + 1) === "ON") return [];
    if (this.#word(at + 1) !== "FROM") return [{ start: token.start, end: token.end, by: "" }];
    const isNot = this.#word(at - 1) === "NOT";
    const start = this.tokens[at - (isNot ? 2 : 1)]?.start ?? token.start;
    return [{ start, end: from.end, by: isNot ? "=" : "<>" }];
  }

  #withoutConflict(at: number): SqlChange[] {
    const start = this.tokens[at - 1]?.start ?? 0;
    const nothing = this.#find(at, this.#endOf(at, new Set(["RETURNING", "UPDATE"])), /^NOTHING$/);
    const last = nothing === null ? undefined : this.tokens[nothing];
    return last === undefined ? [] : [{ start, end: last.end, by: "" }];
  }

  #word(at: number): string {
    return this.tokens[at]?.word.toUpperCase() ?? "";
  }

  /** The first token at its own depth that is one of these words, or closes the parenthesis around it. */
  #endOf(first: number, words: ReadonlySet<string>): number {
    const depth = this.tokens[first]?.depth ?? 0;
    let isBetween = false;
    for (let at = first; at < this.tokens.length; at += 1) {
      const token = this.tokens[at];
      if (token === undefined || token.depth < depth) return at;
      if (token.depth > depth) continue;
      const word = this.#word(at);
      if (word === "BETWEEN") isBetween = true;
      else if (word === "AND" && isBetween) isBetween = false;
      else if (
        words.has(word) &&
        !(word === "FROM" && this.#word(at - 1) === "DISTINCT") &&
        !this.#isWithinCase(first, at)
      )
        return at;
    }
    return this.tokens.length;
  }

  /** What the program puts behind a value is another condition or clause, or nothing. */
  #withoutLastHole(first: number, end: number): number {
    const isHole = end - 1 > first && this.tokens[end - 1]?.word === HOLE;
    return isHole && VALUE.test(this.tokens[end - 2]?.word ?? "") ? end - 1 : end;
  }

  /** Between a CASE from `first` on and its END. */
  #isWithinCase(first: number, at: number): boolean {
    let open = 0;
    for (let before = first; before < at; before += 1) {
      if (this.#word(before) === "CASE") open += 1;
      if (this.#word(before) === "END") open -= 1;
    }
    return open > 0;
  }

  #find(first: number, end: number, word: RegExp): number | null {
    for (let at = first; at < end; at += 1) {
      if (this.tokens[at]?.depth === this.tokens[first]?.depth && word.test(this.#word(at))) return at;
    }
    return null;
  }

  #around(first: Token, last: Token, before: string, after: string): SqlChange {
    const inner = this.#text.slice(first.start, last.end);
    return { start: first.start, end: last.end, by: `${before}${inner}${after}` };
  }
}

function tokensOf(text: string): Token[] {
  let depth = 0;
  return [...text.matchAll(TOKEN)]
    .filter(([word]) => !word.startsWith("--"))
    .map(({ 0: word, index: start }) => {
      if (word === ")" || word === "]") depth -= 1;
      const token = { word, start, end: start + word.length, depth };
      if (word === "(" || word === "[") depth += 1;
      return token;
    });
}
