import { expect } from "vitest";

import type { RepeatChoice } from "../../src/core/questions.ts";
import { answerQuestion } from "../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../src/store/records/questions/read.ts";
import { openStoreAt } from "./open-store.ts";

/** Answers the one open question, whether calls may run again; returns the names of the calls that it is about. */
export async function answerRepeat(
  location: string,
  id: string,
  choice: RepeatChoice,
): Promise<readonly string[]> {
  await using store = await openStoreAt(location);
  const [question, ...others] = await store.read(listOpenQuestions, { reference: id });
  expect([question?.kind, others]).toEqual(["repeat", []]);
  const given = { choice };
  const answer = { reference: id, question: question?.id ?? "", given, note: null };
  await store.write(answerQuestion, { ...answer, answered_by: "terminal" });
  return Array.from(question?.text.matchAll(/^- (\w+)/gm) ?? [], ([, name = ""]) => name);
}
