import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { expectNoDrift } from "../helpers/compare.ts";
import { seededRandom } from "../helpers/random.ts";
import { freshHome } from "../helpers/reprise.ts";
import { testSize } from "../helpers/size.ts";

const ROUNDS = testSize("kill-server");
const WRITERS = 8;

it("[CLI-14] a service that is killed at any time has every message that it acknowledged", async () => {
  const random = seededRandom("kill-server");
  const home = freshHome();
  const acknowledged = new Map<number, string>();
  let id: string | null = null;

  for (let round = 0; round < ROUNDS; round += 1) {
    const service = home.start(["serve", "--port", "0"]);
    const [, url] = await service.waitFor(/listening on (http:\S+)/);
    id ??= await createSession(url ?? "");
    let alive = true;
    const begun = Promise.withResolvers<void>();
    const write = async (writer: number): Promise<void> => {
      for (let count = 0; alive; count += 1) {
        const content = `round ${round} writer ${writer} message ${count}`;
        const seq = await append(`${url}/api/sessions/${id}/messages`, content);
        if (seq !== null) {
          acknowledged.set(seq, content);
          begun.resolve();
        }
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    // how long a busy machine needs for the first message is not part of the moment
    await begun.promise;
    await sleep(random() * 150);
    await service.stop("SIGKILL");
    alive = false;
    await Promise.all(writers);
  }

  const rows = await expectNoDrift(home.database, id ?? "");
  expect(acknowledged.size).toBeGreaterThanOrEqual(ROUNDS);
  const lost = [...acknowledged].filter(([seq, content]) => rows[seq - 1]?.content !== content);
  expect(lost).toEqual([]);
});

async function createSession(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/sessions`, { method: "POST" });
  return ((await answer.json()) as { id: string }).id;
}

/** The message's `seq` once it was acknowledged; null when the service died before. */
async function append(url: string, content: string): Promise<number | null> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ content }),
    });
    return answer.status === 201 ? ((await answer.json()) as { seq: number }).seq : null;
  } catch {
    await sleep(5);
    return null;
  }
}
