import type { Bench } from "./measurement.ts";
import { measureBacklog } from "./stream-backlog.ts";
import { measureDelivery } from "./stream-delivery.ts";
import { measureQuiet } from "./stream-quiet.ts";

/** Live streams: how soon a message arrives, what quiet ones cost, whether a long one holds up others. */
export const bench: Bench = {
  about: "streams: delivery, quiet ones, and one with a long backlog",
  run: async ({ scale }) => [
    ...(await measureDelivery(scale)),
    ...(await measureQuiet(scale)),
    ...(await measureBacklog(scale)),
  ],
};
