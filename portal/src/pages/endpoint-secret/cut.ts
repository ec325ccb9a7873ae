/** Cuts the parts between `region verify` and `endregion` out of a source; comments of any language mark them. */

const BEGIN = /^\s*(?:\/\/ |# )?#?region verify$/;
const END = /^\s*(?:\/\/ |# )?#?endregion$/;

/** The marked parts, each as far left as it goes, with an empty line between those of several lines. */
export function verificationOf(source: string): string {
  const parts: string[][] = [];
  let part: string[] | null = null;
  for (const line of source.split("\n")) {
    if (BEGIN.test(line)) parts.push((part = []));
    else if (END.test(line)) part = null;
    else part?.push(line);
  }
  return parts.reduce((code, lines, index) => {
    const isRun = lines.length === 1 && parts[index - 1]?.length === 1;
    return `${code}${index === 0 ? "" : isRun ? "\n" : "\n\n"}${outdented(lines).join("\n")}`;
  }, "");
}

export function withoutMarks(source: string): string {
  const lines = source.split("\n").filter((line) => !BEGIN.test(line) && !END.test(line));
  return lines.join("\n");
}

function outdented(lines: readonly string[]): string[] {
  const depths = lines.filter((line) => line.trim() !== "").map((line) => /^\s*/.exec(line)?.[0].length ?? 0);
  const depth = Math.min(...depths);
  return lines.map((line) => line.slice(depth));
}
