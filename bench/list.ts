import { getRequest } from "./load.ts";
import type { Bench } from "./measurement.ts";
import { measureReading } from "./reading.ts";

const PAGE = 50;

/** The first page of the list, with few sessions in the database and with many. */
export const bench: Bench = {
  about: "pages of the list a second over HTTP, held against the bare server and a small database",
  run: ({ scale }) => {
    const [small, large] = [1000, 100_000].map((size) => Math.max(PAGE, size * scale));
    return measureReading({
      scale,
      small: { sessions: small!, messages: 0 },
      large: { sessions: large!, messages: 0 },
      what: ({ sessions }) => `${PAGE} of ${sessions} sessions`,
      requests: ({ port }) => [getRequest(port, `/api/sessions?limit=${PAGE}`)],
    });
  },
};
