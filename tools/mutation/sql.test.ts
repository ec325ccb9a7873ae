/** The changes that are made to a statement. */
import { deepEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import { changesOf, HOLE } from "./sql.ts";

/** What each change takes, and what it puts in its place. */
function changed(text: string): string[] {
  return changesOf(text).map(({ start, end, by }) => `${text.slice(start, end)} → ${by}`);
}

describe("a condition of a statement", () => {
  it("is dropped, one at a time, and stays where PostgreSQL reads its types", () => {
    deepEqual(
      changed("SELECT 1 FROM t WHERE a = $1 AND (b IS NULL OR c) ORDER BY d"),
      [
        "a = $1 → (a = $1 OR true)",
        "(b IS NULL OR c) → ((b IS NULL OR c) OR true)",
        "b IS NULL → (b IS NULL AND false)",
        "c → (c AND false)",
        " → DESC",
      ].map((one) => one.replace("→ DESC", "→  DESC")),
    );
  });

  it("of a join, of a filter and of a CASE too", () => {
    deepEqual(changed("SELECT count(*) FILTER (WHERE a) FROM t JOIN u ON t.id = u.id"), [
      "a → (a OR true)",
      "t.id = u.id → (t.id = u.id OR true)",
    ]);
    deepEqual(changed("SELECT CASE WHEN a THEN b ELSE c END FROM t"), ["a → (a OR true)"]);
  });

  it("with BETWEEN is one, whose AND is no other", () => {
    deepEqual(changed("SELECT 1 FROM t WHERE a BETWEEN $1 AND $2 AND b"), [
      "a BETWEEN $1 AND $2 → (a BETWEEN $1 AND $2 OR true)",
      "b → (b OR true)",
    ]);
  });

  it("that the program puts in is dropped whole", () => {
    deepEqual(changed(`SELECT 1 FROM t WHERE ${HOLE}`), [`${HOLE} → (${HOLE} OR true)`]);
    deepEqual(changed(`SELECT 1 FROM t WHERE a = ${HOLE} ${HOLE}`), [`a = ${HOLE} → (a = ${HOLE} OR true)`]);
  });

  it("that a part of a statement begins with is dropped too", () => {
    deepEqual(changed("a = $1 AND b"), ["a = $1 → (a = $1 OR true)", "b → (b OR true)"]);
  });

  it("of what is selected ends before FROM", () => {
    deepEqual(changed("SELECT a OR b FROM t"), ["b → (b AND false)"]);
  });

  it("is not looked for where there is none", () => {
    deepEqual(changed("SELECT CASE a WHEN 'b' THEN 1 END FROM t JOIN u ON true"), []);
    deepEqual(changed("CREATE POLICY p ON t USING (a = 1 AND b < 2)"), []);
  });
});

describe("a column that is set", () => {
  it("keeps its value, one at a time", () => {
    deepEqual(changed("UPDATE s.t SET a = $1, b = f(c, d) FROM u"), [
      "$1 → CASE WHEN true THEN t.a ELSE $1 END",
      "f(c, d) → CASE WHEN true THEN t.b ELSE f(c, d) END",
    ]);
  });

  it("is the row's that the statement names", () => {
    deepEqual(changed("UPDATE s.t AS x SET a = DEFAULT, b = $1"), [
      "$1 → CASE WHEN true THEN x.b ELSE $1 END",
    ]);
    deepEqual(changed("UPDATE s.t x SET a = $1"), ["$1 → CASE WHEN true THEN x.a ELSE $1 END"]);
    deepEqual(changed("INSERT INTO s.t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = excluded.b"), [
      "excluded.b → CASE WHEN true THEN t.b ELSE excluded.b END",
    ]);
  });

  it("is none where a setting is set", () => {
    deepEqual(changed("SET LOCAL lock_timeout = 5"), []);
  });
});

describe("words and signs of a statement", () => {
  it("turn to their neighbours", () => {
    deepEqual(changed("SELECT least(a, b), max(c), d + 1, -1, e - f FROM t WHERE g <= 1"), [
      "least → greatest",
      "max → min",
      "+ → -",
      "- → +",
      "g <= 1 → (g <= 1 OR true)",
      "<= → <",
    ]);
  });

  it("of a time are changed where a length of time follows", () => {
    deepEqual(
      changed("SELECT now() - a, now() - interval '1 s', now() - make_interval(days => $1), b << 2 FROM t"),
      ["- → +", "- → +"],
    );
  });

  it("order the other way round, and take one more", () => {
    deepEqual(changed("SELECT 1 FROM t ORDER BY a DESC, b NULLS LAST LIMIT $1"), [
      "DESC → ASC",
      " →  DESC",
      "$1 → ($1) + 1",
    ]);
  });

  it("lock nothing, or wait for a lock", () => {
    deepEqual(changed("SELECT 1 FROM t FOR NO KEY UPDATE OF t SKIP LOCKED"), [
      "FOR NO KEY UPDATE OF t SKIP LOCKED → ",
      "SKIP LOCKED → ",
    ]);
  });

  it("compare without NULL, keep what is there twice, and conflict", () => {
    deepEqual(changed("SELECT a IS NOT DISTINCT FROM b, count(DISTINCT c), d IS DISTINCT FROM e FROM t"), [
      "IS NOT DISTINCT FROM → =",
      "DISTINCT → ",
      "IS DISTINCT FROM → <>",
    ]);
    deepEqual(changed("INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO NOTHING RETURNING a"), [
      "ON CONFLICT (a) DO NOTHING → ",
    ]);
  });

  it("within a text or a comment are none", () => {
    deepEqual(changed("SELECT 'a AND b < c' -- WHERE d = 1\nFROM t"), []);
  });
});
