import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { isRepriseError } from "../../src/core/errors.ts";
import { expectNoDrift } from "../helpers/compare.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { seededRandom } from "../helpers/random.ts";
import { freshHome } from "../helpers/reprise.ts";

const ROUNDS = 25;

it("[CLI-15] a command line that is killed at any moment leaves mirror and checkpoints together", async () => {
  const random = seededRandom("kill-exchange");
  const server = await startModelServer({
    latencyMs: 15,
    chunkSize: 8,
    answer: (messages, index) =>
      messages.at(-1)?.role === "tool"
        ? { content: "The folder holds one note, and that is all there is to say of it." }
        : { toolCalls: [{ id: `call_${index}`, name: "list_files", arguments: '{"path":"."}' }] },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
  writeFileSync(`${home.project}/note.txt`, "a note");
  const id = "11111111-2222-4333-8444-555555555555";
  const finished: string[] = [];

  for (let round = 0; round < ROUNDS; round += 1) {
    const text = `message of round ${round}`;
    const exchange = home.start(["--session", id, "-p", text, "--json"]);
    const timer = sleep(400 + random() * 900).then(() => exchange.stop("SIGKILL"));
    if ((await exchange.finished).code === 0) {
      finished.push(text);
    }
    await timer;
    await expectNoDrift(home.database, id).catch((error: unknown) => {
      // killed before it had made the session
      if (!isRepriseError(error, "session_not_found")) {
        throw error;
      }
    });
  }

  const last = await home.json<{ answer: string }>(["--session", id, "-p", "the last", "--json"]);
  expect(last.answer).toContain("that is all there is to say");
  const rows = await expectNoDrift(home.database, id);
  const stored = rows.filter(({ role }) => role === "user").map(({ content }) => content);
  expect(stored).toEqual([...new Set(stored)]);
  expect(finished.filter((text) => !stored.includes(text))).toEqual([]);
  // a provider refuses a history in which a tool call has no result
  expect(server.refused()).toEqual([]);
});
