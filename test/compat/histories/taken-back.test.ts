import { appendFileSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import type { Entry, Program } from "../../../src/compat/histories/history.ts";
import { readHistories } from "../../../src/compat/histories/read-histories.ts";
import { placeHistory } from "../../helpers/foreign-histories.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

async function entriesOf(program: Program, file: string): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for await (const { entries } of readHistories(program, file)) {
    found.push(...entries);
  }
  return found;
}

const textsOf = (entries: readonly Entry[]): string[] => entries.map(({ text }) => text);

it("[FOREIGN-48] turns that a person took back in Codex are left out", async () => {
  const folder = temporaryFolder();
  const file = placeHistory("codex", { home: folder, project: folder });
  const before = await entriesOf("codex", file);
  const back = (num_turns: unknown) =>
    `${JSON.stringify({ type: "event_msg", payload: { type: "thread_rolled_back", num_turns } })}\n`;
  appendFileSync(file, back(0) + back("1") + back(1));
  expect(await entriesOf("codex", file)).toEqual(before.slice(0, -2));
  expect(textsOf(before).slice(-2)).toEqual(["Thanks.", "You are welcome."]);
});

it("[FOREIGN-48] messages and parts that a person has undone in opencode are left out", async () => {
  const folder = temporaryFolder();
  const file = placeHistory("opencode", { home: folder, project: folder });
  using database = new DatabaseSync(file);
  const [, , third] = database
    .prepare(
      `SELECT message.id FROM message JOIN session ON session.id = session_id
       WHERE parent_id IS NULL AND json_extract(data, '$.role') = 'user' ORDER BY message.id`,
    )
    .all();
  const revert = database.prepare("UPDATE session SET revert = ? WHERE parent_id IS NULL");
  const before = textsOf(await entriesOf("opencode", file));
  revert.run(JSON.stringify({ messageID: third?.["id"] }));
  expect(textsOf(await entriesOf("opencode", file))).toEqual(before.slice(0, -2));
  revert.run(JSON.stringify({ messageID: third?.["id"], partID: "zzz" }));
  expect(textsOf(await entriesOf("opencode", file))).toEqual(before.slice(0, -1));
});

it("[FOREIGN-49] a compression of Gemini CLI is a summary, and what it copied is there once", async () => {
  const folder = temporaryFolder();
  const file = placeHistory("gemini", { home: folder, project: folder });
  const entries = await entriesOf("gemini", file);
  const asked = entries.filter(({ text }) => text.startsWith("Let a helper"));
  const summaries = entries.filter(({ kind }) => kind === "summary");
  expect(asked).toHaveLength(1);
  expect(summaries).toMatchObject([
    { text: "Summary: hello.txt got a second greeting.", kept_from: asked[0]?.id },
  ]);
  expect(textsOf(entries).join()).not.toContain("Got it.");
  // a copy is its original, if a person goes back to it
  const copied = readFileSync(file, "utf8")
    .split("\n")
    .findLast((line) => line.startsWith('{"$set":{"messages":'));
  const { $set } = JSON.parse(copied ?? "") as { $set: { messages: { id: string }[] } };
  const copy = $set.messages.find((message) => JSON.stringify(message).includes("Let a helper"));
  expect(copy?.id).not.toBe(asked[0]?.id);
  appendFileSync(file, `${JSON.stringify({ $rewindTo: copy?.id })}\n`);
  const last = (await entriesOf("gemini", file)).findLast(({ kind }) => kind !== "result");
  expect(last?.text).toContain("two greetings");
});

it("[FOREIGN-48] texts that Codex wrote in the user's role are not imported", async () => {
  const folder = temporaryFolder();
  const file = placeHistory("codex", { home: folder, project: folder });
  const users = (await entriesOf("codex", file)).filter(({ kind }) => kind === "user");
  expect(textsOf(users)).toEqual([
    "Read hello.txt and add a second greeting.",
    "Let a helper count the lines, then say which file you changed.",
    "Thanks.",
  ]);
});
