/**
 * The text of an executable file that runs this source on this process's Node.
 * By way of a shell, since a first line `#!` can name no path with a space.
 */
export function nodeScript(source: string): string {
  return `#!/bin/sh\n":" //; exec "${process.execPath}" "$0" "$@"\n${source}`;
}
