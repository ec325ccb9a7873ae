/** How far something is: one line that changes at a terminal, a line for each change elsewhere. */
export type Progress = { show(text: string): void; end(): void };

/** Written to standard error, so that what is printed can be read by programs. */
export function makeProgress(isQuiet: boolean): Progress {
  let shown = "";
  return {
    show(text) {
      if (isQuiet || text === shown) return;
      shown = text;
      process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    },
    end() {
      if (!isQuiet && shown !== "" && process.stderr.isTTY) process.stderr.write("\n");
      shown = "";
    },
  };
}
