import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";
import { openTerminal } from "../helpers/terminal.ts";
import { expectVerified } from "../helpers/verified.ts";

const TOKEN = "a-token";

it("a service leaves alone what a terminal ran that was killed, until a person continues it", async () => {
  const server = await startModelServer({
    latencyMs: 20,
    chunkSize: 16,
    answer: (messages, index) => ({
      content: index === 0 ? "a line of words\n".repeat(2000) : `to ${messages.at(-1)?.content}`,
    }),
  });
  const home = freshHome({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
    REPRISE_TOKEN: TOKEN,
  });
  const [session, other] = [idLike("abcdef1"), idLike("abcdef2")];
  await seed(home, { id: session }, { id: other });
  const startService = async () => {
    const service = home.start(["serve", "--port", "0"]);
    const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
    return { service, client: createClient({ baseUrl: url, token: TOKEN }) };
  };
  const beside = await startService();
  const terminal = openTerminal(home, `exec reprise --session ${session}`);
  await terminal.shows(/> $/);
  terminal.type("a question\r");
  await terminal.shows(/line of words/);
  terminal.kill("SIGKILL");
  await terminal.finished;

  // one that starts now, too, finds what dead processes have left
  const { client } = await startService();
  const { n } = await client.queueExchange(other, "another");
  while ((await client.getExchange(other, n)).ended_at === null) {
    await sleep(20);
  }
  expect(server.requests().map((messages) => messages.at(-1)?.content)).toEqual([
    "a question",
    "another",
  ]);
  expect(await client.getExchange(session, 1)).toMatchObject({ state: "interrupted" });
  expect((await beside.service.stop("SIGTERM")).code).toBe(0);

  const again = openTerminal(home, `exec reprise --session ${session}`);
  await again.shows(/interrupted[^]*> $/);
  again.type("/continue\r");
  await again.shows(/to a question/);
  again.type("/exit\r");
  expect((await again.finished).code).toBe(0);
  expect(await client.getExchange(session, 1)).toMatchObject({ state: "done", last_seq: 2 });
  expect(server.requests()).toHaveLength(3);
  await expectVerified(home.database, session);
});
