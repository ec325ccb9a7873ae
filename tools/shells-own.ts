import { SETTING_NAMES } from "../src/config.ts";

/** Postern's settings, what other programs that tests start read, and what colours, translates or adds to their output. */
const NAMES = new RegExp(
  `^(?:${SETTING_NAMES.join("|")}|AWS_.*|PG.*|PYTHON.*|LC_.*|LANG|LANGUAGE|OTEL_.*|NODE_ENV|DEBUG|FORCE_COLOR|NO_COLOR)$`,
);

/**
 * Takes out of an environment what a developer's shell may set, since a test sets what it needs:
 * PYTHONUNBUFFERED once hid a reference that never flushed, and HOST changed what a program advises.
 */
export function forgetShellsOwn(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) if (NAMES.test(name)) delete env[name];
}
