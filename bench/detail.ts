import { getRequest } from "./load.ts";
import type { Bench } from "./measurement.ts";
import { measureReading } from "./reading.ts";

const MESSAGES = 200;

/** A session of 200 messages, with few messages in the database and with many. */
export const bench: Bench = {
  about: "sessions read a second over HTTP, held against the bare server and a small database",
  run: ({ scale }) => {
    const [small, large] = [1000, 1_000_000].map((messages) =>
      Math.max(1, Math.round((messages * scale) / MESSAGES)),
    );
    return measureReading({
      scale,
      small: { sessions: small!, messages: MESSAGES },
      large: { sessions: large!, messages: MESSAGES },
      what: ({ sessions }) => `${MESSAGES} messages among ${sessions * MESSAGES}`,
      requests: ({ port, ids }) => ids.map((id) => getRequest(port, `/api/sessions/${id}`)),
    });
  },
};
