import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { monthBack } from "../helpers/month-back.ts";
import { openStoreAt } from "../helpers/open-store.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";

it("[QUESTION-12] [QUESTION-16] [QUESTION-22] asked by a node, answered over a second after a month, continued by a third; a copy too", async () => {
  await using postgres = await createPostgres();
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user"
        ? {
            toolCalls: [
              { name: "ask_user", arguments: '{"question":"Which colour?"}' },
              { name: "list_files", arguments: '{"path":"."}' },
            ],
          }
        : { content: messages.at(-2)?.content ?? "" },
  });
  const home = homeOfNodes({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:test",
    REPRISE_DATABASE: postgres.url,
  });
  const all = ["--repos", home.project];

  const first = await startNode(home, all);
  const { id } = await first.client.createSession({ repo_path: home.project });
  await first.post(id, "ask");
  await until(async () => (await stateOf(first.client, id)) === "waiting");
  await first.service.stop("SIGKILL");

  const copy = join(home.home, "copy.db");
  const copied = await home.call(["copy", "--from", postgres.url, "--to", copy, "--json"]);
  expect(copied.code, copied.stderr).toBe(0);
  const file = join(home.home, "session.json");
  writeFileSync(file, (await home.call(["sessions", "export", id])).stdout);
  await using store = await openStoreAt(postgres.url);
  await monthBack(store);

  const second = await startNode(home, ["--jobs", "0"]);
  const [question] = await second.client.listQuestions(id);
  const answered = await second.client.answerQuestion(id, question?.id ?? "", { text: "red" });
  expect(answered).toMatchObject({ text: "Which colour?", state: "answered" });
  expect(await stateOf(second.client, id)).toBe("queued");
  await second.service.stop("SIGKILL");

  const third = await startNode(home, all);
  expect(await third.ended(id)).toBe("done");
  expect(await third.client.listExchanges(id)).toMatchObject([{ n: 1, state: "done" }]);
  await expect(
    third.client.answerQuestion(id, question?.id ?? "", { text: "green" }),
  ).rejects.toMatchObject({ code: "question_answered" });
  expect((await third.client.getSession(id)).messages.at(-1)?.content).toBe("red");
  expect(server.requests()).toHaveLength(2);
  expect(server.refused()).toEqual([]);
  expect(resultsOf(server.requests().at(-1))).toHaveLength(2);
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
  await third.service.stop("SIGTERM");

  // what was exported while it waited is answered and continued, too
  const imported = ["--database", join(home.home, "imported.db")];
  expect(await home.call(["sessions", "import", file, ...imported])).toMatchObject({ code: 0 });
  const given = await home.call(["sessions", "answer", id, "blue", ...imported]);
  expect(given.code, given.stderr).toBe(0);
  const resumed = await home.call(["--session", id, "--continue-exchange", ...imported]);
  expect(resumed).toMatchObject({ code: 0, stdout: "blue\n" });
  expect(server.requests()).toHaveLength(3);

  // the copy still waits, and takes another answer
  const there = ["--database", copy];
  expect(await home.call(["sessions", "answer", id, "green", ...there])).toMatchObject({ code: 0 });
  const fourth = await startNode(home, [...all, ...there]);
  expect(await fourth.ended(id)).toBe("done");
  expect((await fourth.client.getSession(id)).messages.at(-1)?.content).toBe("green");
  expect(server.requests()).toHaveLength(4);
  await fourth.service.stop("SIGTERM");
  expect((await home.call(["sessions", "verify", ...there])).code).toBe(0);
});

async function stateOf(client: Client, id: string): Promise<string> {
  return (await client.getExchange(id, 1)).state;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await sleep(20);
  }
}

function resultsOf(messages: readonly { readonly role: string }[] = []) {
  return messages.filter(({ role }) => role === "tool");
}
