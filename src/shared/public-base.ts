import { ownHost } from "./own-host.ts";

/**
 * Where clients reach the API, without a slash at its end. Without a public URL
 * that is the address listened on, which other machines may not reach.
 */
export function publicBase(address: {
  publicUrl: string | undefined;
  host: string;
  port: number;
  basePath: string;
}): string {
  const { publicUrl, host, port, basePath } = address;
  return publicUrl ?? `http://${ownHost(host)}:${port}${basePath}`;
}
