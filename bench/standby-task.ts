/** What a synchronous standby on the same machine costs: A without and with it, by turns. */
import { startReplicatedDatabase } from "./database.ts";
import { median } from "./measure.ts";
import { openStand, type Program, type Stand } from "./stand.ts";

const ROUNDS = 3;

type Burst = { deliveredPerS: number; postgresCpuPer1000: number };

export async function besideStandby(
  burst: (stand: Stand, program: Program) => Promise<Burst>,
): Promise<Record<string, string | number>> {
  const database = await startReplicatedDatabase();
  const stand = await openStand(database);
  const runs: { alone: Burst[]; standby: Burst[] } = { alone: [], standby: [] };
  try {
    const program = await stand.start("up");
    await burst(stand, program);
    for (let round = 0; round < ROUNDS; round++) {
      runs.alone.push(await burst(stand, program));
      await database.addStandby();
      runs.standby.push(await burst(stand, program));
      await database.dropStandby();
    }
  } finally {
    await stand.close();
  }
  const middle = (of: readonly Burst[], name: keyof Burst): number => median(of.map((run) => run[name]));
  const range = (of: readonly Burst[]): string =>
    of.map(({ deliveredPerS }) => Math.round(deliveredPerS)).join(", ");
  return {
    "delivered/s alone": range(runs.alone),
    "with standby": range(runs.standby),
    "of alone": Number(
      (middle(runs.standby, "deliveredPerS") / middle(runs.alone, "deliveredPerS")).toFixed(2),
    ),
    "postgres s/1000 alone": Number(middle(runs.alone, "postgresCpuPer1000").toFixed(3)),
    "postgres s/1000 with standby": Number(middle(runs.standby, "postgresCpuPer1000").toFixed(3)),
  };
}
