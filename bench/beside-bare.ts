import type { LoadResult } from "./load.ts";
import { type Contender, inRounds } from "./rounds.ts";
import {
  makeDatabase,
  type Service,
  startProgram,
  startReprise,
  temporaryFolder,
} from "./services.ts";

/** The same load on the service and on the bare server, each on a separate, empty database. */
export async function besideBare(
  contend: (service: Service) => Contender | Promise<Contender>,
  load: { readonly connections: number; readonly scale: number },
): Promise<Record<"ours" | "bare", LoadResult[]>> {
  using folder = temporaryFolder();
  await using ours = await startReprise(await makeDatabase(`${folder.path}/ours.db`));
  await using bare = await startProgram("bare.ts", [await makeDatabase(`${folder.path}/bare.db`)]);
  return await inRounds({ ours: await contend(ours), bare: await contend(bare) }, load);
}
