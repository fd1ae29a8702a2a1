import { join } from "node:path";

import { seededRandom } from "../helpers/random.ts";
import { followThroughBreaks } from "./broken-network.ts";
import type { TortureOptions } from "./main.ts";
import { tortureFolder } from "./service.ts";

/** The client library through 1 % breaks, then an EventSource through a tenth of it. */
export async function run({ size = 100_000 }: TortureOptions): Promise<void> {
  const random = seededRandom("network");
  for (const [reader, messages] of [
    ["client", size],
    ["EventSource", Math.ceil(size / 10)],
  ] as const) {
    using folder = tortureFolder();
    const database = join(folder.path, "reprise.db");
    const begun = performance.now();
    const breaks = Math.ceil(messages / 100);
    const figures = await followThroughBreaks({
      database,
      messages,
      breaks,
      random,
      reader,
    });
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(
      `network: ${reader}: ${figures.messages} messages over ${JSON.stringify(figures.breaks)} breaks in ${seconds} s, ${figures.retries} posts repeated; none lost, doubled or out of order`,
    );
  }
}
