import { setTimeout as sleep } from "node:timers/promises";

import { follow } from "./follow.ts";
import { ask, getRequest } from "./load.ts";
import type { Measurement } from "./measurement.ts";
import { makeSeeded, someIds } from "./seed.ts";
import { startReprise, temporaryFolder } from "./services.ts";

const MESSAGES = 100_000;
const READERS = 3;

/** Readers catch up with a long session while others ask for something small. */
export async function measureBacklog(scale: number): Promise<Measurement[]> {
  using folder = temporaryFolder();
  const messages = Math.round(MESSAGES * scale);
  const path = await makeSeeded(`${folder.path}/ours.db`, { sessions: 2, messages });
  await using service = await startReprise(path);
  const { port } = service;
  const [id = ""] = someIds(path, 1);
  const last = `id: ${messages}\n`;
  const tails = Array.from({ length: READERS }, () => "");
  let behind = READERS;
  const begun = performance.now();
  const sockets = await Promise.all(
    tails.map((_, reader) =>
      follow({ port, id }, (chunk) => {
        // the line may come in two pieces
        behind -=
          chunk.includes(last) ||
          `${tails[reader]!}${chunk.toString("latin1", 0, 20)}`.includes(last)
            ? 1
            : 0;
        tails[reader] = chunk.toString("latin1", Math.max(0, chunk.length + 1 - last.length));
      }),
    ),
  );
  let longest = 0;
  while (behind > 0) {
    const sent = performance.now();
    await ask(port, getRequest(port, "/livez"));
    longest = Math.max(longest, performance.now() - sent);
    await sleep(5);
  }
  const seconds = (performance.now() - begun) / 1000;
  for (const socket of sockets) {
    socket.destroy();
  }
  return [
    {
      what: `${READERS} streams with a backlog of ${messages}: the longest wait of others`,
      unit: "ms",
      ours: longest,
      floor: null,
      reach: { at_most: 100 },
    },
    {
      what: `${READERS} streams with a backlog of ${messages}: messages caught up with`,
      unit: "a second",
      ours: (READERS * messages) / seconds,
      floor: null,
      reach: null,
    },
  ];
}
