/** What was sent, as a delivery of the API has it. */
type Sent = { request_headers: Readonly<Record<string, string>> | null; request_body: string | null };

/** A line for a POSIX shell that sends the same request. */
export function curlOf(url: string, { request_headers: headers, request_body: body }: Sent): string {
  const given = Object.entries(headers ?? {}).filter(
    ([name]) => !/^(?:host|content-length|connection)$/i.test(name),
  );
  return [
    `curl -X POST ${quoted(url)}`,
    ...given.map(([name, value]) => `-H ${quoted(headerOf(name, value))}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(" \\\n  ");
}

/** Of a name with nothing behind its colon curl sends no header. */
function headerOf(name: string, value: string): string {
  return value === "" ? `${name};` : `${name}: ${value}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
