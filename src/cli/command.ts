/** A command that tells an operator's mistake in a line or two, and every other fault whole. */
import { isPassing } from "../database/passing-errors.ts";
import { ConfigError } from "../shared/config-error.ts";
import { StoreUnavailableError } from "../storage/bytes/bucket.ts";

export async function withClearErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const mistake = operatorsMistake(error);
    if (mistake === null) console.error(error);
    else console.error(`postern cannot start:\n${indent(mistake)}`);
    // What was already started must not keep a process alive that cannot do its work.
    process.exit(1);
  }
}

/** What the operator can mend, in words; null for a fault of the program. */
function operatorsMistake(error: unknown): string | null {
  if (error instanceof ConfigError) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "EADDRINUSE" && error instanceof Error) {
    return `${error.message}. Another program has this port: end it, or set PORT to a free one.`;
  }
  const isRefusedLogin = ["28000", "28P01", "3D000"].includes(code);
  if ((isRefusedLogin || isPassing(error)) && error instanceof Error) {
    return `The database cannot be used: ${error.message}. Check DATABASE_URL, and that PostgreSQL runs there.`;
  }
  if (error instanceof StoreUnavailableError) {
    return `Stored artifacts cannot be reached: ${error.message}. \`postern storage doctor\` tries what is needed of the store, and docs/storage.md tells what it needs.`;
  }
  return null;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
