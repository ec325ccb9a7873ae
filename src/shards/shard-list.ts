/** Reads `SHARDS`: names and databases, `eu1=postgres://…|eu2*2=postgres://…`. */
import { databaseUrlFault } from "../database/hosts/host-list.ts";

/** `weight`: its part of new tenants, beside the others'; 0 takes none. */
export type Shard = { name: string; url: string; weight: number };

const FORM = "must be names and databases, such as eu1=postgres://…|eu2=postgres://…";
const ENTRY = /^([a-z](?:[a-z0-9-]{0,30}[a-z0-9])?)(?:\*(\d{1,4}))?=(postgres(?:ql)?:\/\/.+)$/;
const MAX_SHARDS = 100;
const MAX_WEIGHT = 1000;

/** The shards in their order, the first of which keeps the directory; or what completes the sentence "SHARDS …". */
export function parseShardList(text: string): { shards: Shard[] } | { fault: string } {
  const shards: Shard[] = [];
  for (const part of text.split("|")) {
    const [, name, weight = "1", url] = ENTRY.exec(part.trim()) ?? [];
    // The entry itself holds a password, so it is named by its number.
    if (name === undefined || url === undefined)
      return { fault: `${FORM}: entry ${shards.length + 1} is not` };
    if (Number(weight) > MAX_WEIGHT) return { fault: `gives ${name} a weight above ${MAX_WEIGHT}` };
    const fault = databaseUrlFault(url);
    if (fault !== null) return { fault: `has a database for ${name} that ${fault}` };
    shards.push({ name, url, weight: Number(weight) });
  }
  const fault = faultOf(shards);
  return fault === null ? { shards } : { fault };
}

function faultOf(shards: readonly Shard[]): string | null {
  if (shards.length > MAX_SHARDS) return `names more than ${MAX_SHARDS} shards`;
  const twice = shards.find(({ name }, place) => shards.findIndex((other) => other.name === name) < place);
  if (twice !== undefined) return `names ${twice.name} twice: give each database a name of its own`;
  const same = shards.find(({ url }, place) => shards.findIndex((other) => other.url === url) < place);
  if (same !== undefined) return `names one database twice: ${same.name} has that of an earlier shard`;
  if (shards.every(({ weight }) => weight === 0))
    return "gives every shard the weight 0: new tenants need one";
  return null;
}

/** For showing settings: no passwords. */
export function maskShards(text: string, mask: (url: string) => string): string {
  return text
    .split("|")
    .map((part) => {
      const at = part.indexOf("=");
      return at === -1 ? "********" : `${part.slice(0, at + 1)}${mask(part.slice(at + 1))}`;
    })
    .join("|");
}
