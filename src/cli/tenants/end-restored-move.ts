/** `tenants move --undo` of a tenant that nobody moves: a restore may have brought a move back that is over. */
import { isAway, isPassing } from "../../database/passing-errors.ts";
import type { Db } from "../../database/pool.ts";
import type { Home } from "../../shards/directory-store.ts";
import { readMark } from "../../shards/join-store.ts";
import type { MoveSite } from "../../shards/move-store.ts";
import { endRestored, requireHome, requireNoLaterHome } from "../../shards/restored-move.ts";
import { ConfigError } from "../../shared/config-error.ts";
import type { TenantId } from "../../shared/id.ts";
import { messageOf } from "../../shared/message-of.ts";
import { endAtOnce, isShardOf, shardOf, whileAnswering, withPool, type Place } from "./move-databases.ts";
import { makeProgress } from "../progress.ts";

type Asked = { tenantId: TenantId; home: Home };

type Within = <T>(place: Place, work: (site: MoveSite) => Promise<T>) => Promise<T>;

export async function endMoveThatIsOver(
  shards: readonly Place[],
  directory: Db,
  asked: Asked,
): Promise<void> {
  const keeper = await readMark(directory);
  const silent = (name: string): void => endAtOnce(endedInPart(asked, `${name} does not answer`));
  const within: Within = (place, work) =>
    withPool(place, (db) => {
      const site = { name: place.name, db };
      return whileAnswering(site, silent, async () => {
        // A URL that leads elsewhere would have rows of a living tenant deleted.
        if (await isShardOf(keeper, site)) return work(site);
        throw new ConfigError(
          `The database of ${place.name} in SHARDS is not that shard of this installation.\nCorrect its URL.`,
        );
      });
    });
  const progress = makeProgress(false);
  const tell = (text: string): void => progress.show(text);
  const ended = await endEverywhere(shards, { asked, within, tell })
    .catch((error: unknown) => {
      throw isAway(error) ? endedInPart(asked, messageOf(error)) : error;
    })
    .finally(() => progress.end());
  report(asked, ended);
}

type Ended = { ended: string[]; unasked: string[]; faults: string[] };

/** A shard that is away keeps none of the others from being asked. */
async function endEverywhere(
  shards: readonly Place[],
  { asked, within, tell }: { asked: Asked; within: Within; tell: (text: string) => void },
): Promise<Ended> {
  const own = shardOf(shards, asked.home.shard);
  const others = shards.filter((place) => place !== own);
  const first = shards[0]?.name ?? "";
  const { isFenced } = await within(own, (site) => requireHome(site, asked, first));
  // Its fence is about to be lifted: that is wrong where another shard has let the tenant in since.
  if (isFenced)
    for (const place of others) await within(place, (site) => requireNoLaterHome(site, asked, first));
  const all: Ended = { ended: [], unasked: [], faults: [] };
  for (const place of [own, ...others]) {
    try {
      if (await within(place, (site) => endRestored(site, asked, tell))) all.ended.push(place.name);
    } catch (error) {
      if (!(error instanceof ConfigError) && !isPassing(error)) throw error;
      all.unasked.push(place.name);
      const lost = `The shard ${place.name} cannot be reached: ${messageOf(error)}.`;
      all.faults.push(error instanceof ConfigError ? error.message : lost);
    }
  }
  return all;
}

function report({ tenantId, home }: Asked, { ended, unasked, faults }: Ended): void {
  const rest = `${unasked.join(", ")} could not be asked whether a restore has brought a move back.`;
  if (ended.length > 0) {
    console.log(
      `${tenantId} lives in ${home.shard}. What a restore had brought back of a move is ended in ${ended.join(", ")}: its rows and marks. \`postern doctor\` names what is left of a copy.`,
    );
    if (faults.length > 0) throw new ConfigError([rest, ...faults, "Then run the command again."].join("\n"));
    return;
  }
  const known = `${tenantId} is not being moved.\nIt lives in ${home.shard}.`;
  throw new ConfigError(faults.length === 0 ? known : [`${known} ${rest}`, ...faults].join("\n"));
}

function endedInPart({ tenantId }: Asked, why: string): ConfigError {
  return new ConfigError(
    `What a restore has brought back of a move of ${tenantId} may not be ended everywhere: ${why}.\nRun the command again.`,
  );
}
