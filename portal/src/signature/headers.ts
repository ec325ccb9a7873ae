/** Headers as people copy them: lines, an object of JSON, arguments of curl, or names and values line by line. */

/** Lower-case names, each with all of its values; and the first line that is none. */
export type Headers = { values: ReadonlyMap<string, readonly string[]>; unread: string | null };

const LINE = /^([\w!#$%&'*+.^`|~-]+)\s*[:\t]\s*(.*)$/;
const SIGNATURE_NAME = /^(?:webhook-(?:id|timestamp|signature)|x-service-[a-z]+)$/i;
/** The first line of a request, and the beginning of a command that is copied whole. */
const OTHER_LINE = /^(?:(?:POST|GET|PUT) |HTTP\/|curl )/i;

export function parseHeaders(text: string): Headers {
  const values = new Map<string, string[]>();
  const add = (name: string, value: string): void => {
    values.set(name.toLowerCase(), [...(values.get(name.toLowerCase()) ?? []), value.trim()]);
  };
  const object = objectOf(text);
  if (object !== null) {
    for (const [name, value] of Object.entries(object)) add(name, String(value));
    return { values, unread: null };
  }
  let unread: string | null = null;
  let name: string | null = null;
  for (const line of text.split(/\r?\n/).map(withoutCurl)) {
    const [, found, value] = LINE.exec(line) ?? [];
    if (name !== null && line !== "") {
      add(name, line);
      name = null;
    } else if (found !== undefined && value !== undefined) add(found, value);
    else if (SIGNATURE_NAME.test(line)) name = line;
    else if (line !== "" && !OTHER_LINE.test(line)) unread ??= line;
  }
  return { values, unread };
}

function withoutCurl(line: string): string {
  const bare = line.trim().replace(/\s*\\$/, "");
  const [, , argument = bare] = /^(?:-H|--header)\s+(['"])(.*)\1$/.exec(bare) ?? [];
  return argument;
}

function objectOf(text: string): object | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    return Object(JSON.parse(text));
  } catch {
    return null;
  }
}
