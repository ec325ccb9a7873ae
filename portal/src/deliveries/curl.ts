import type { Schemas } from "../api/client.ts";

/** A line for a POSIX shell that sends the same request. */
export function curlOf(
  url: string,
  { request_headers: headers, request_body: body }: Schemas["Delivery"],
): string {
  const given = Object.entries(headers ?? {}).filter(
    ([name]) => !/^(?:host|content-length|connection)$/i.test(name),
  );
  return [
    `curl -X POST ${quoted(url)}`,
    ...given.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
