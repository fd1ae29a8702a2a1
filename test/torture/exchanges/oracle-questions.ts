import { expect } from "vitest";

import type { Message } from "../../../src/core/sessions.ts";
import type { Reply } from "./clients.ts";
import type { Effect } from "./effects.ts";
import type { QuestionRow } from "./rows.ts";

/** Each question was answered by one of those who tried, and they know who it was. */
export function expectAnswered(questions: readonly QuestionRow[], replies: readonly Reply[]): void {
  const byId = new Map(questions.map((question) => [question.id, question]));
  for (const { id, state, note, answer, text } of questions) {
    expect(state, text).not.toBe("open");
    if (state === "answered") {
      const counted = replies.filter(
        (reply) => reply.question === id && reply.note === note && reply.answer === answer,
      );
      expect(counted.length, `the answer to ${text}`).toBe(1);
      expect(counted[0]?.counts, `the answer to ${text}`).not.toBe("no");
    }
  }
  for (const { question, note, counts } of replies.filter((reply) => reply.counts === "yes")) {
    expect(byId.get(question)?.note, `${note} counted (${counts})`).toBe(note);
  }
}

/** What asks before it takes effect did so once, and did then what it was allowed; no result says otherwise. */
export function expectConsent(
  questions: readonly QuestionRow[],
  {
    messages,
    effects,
  }: { readonly messages: readonly Message[]; readonly effects: readonly Effect[] },
): void {
  const answered = new Map<string, QuestionRow>();
  for (const question of questions.filter(({ state }) => state === "answered")) {
    expect(answered.has(question.text), `${question.text} was answered twice`).toBe(false);
    answered.set(question.text, question);
  }
  const yes = new Map<string, QuestionRow>();
  for (const { what, tool, node, at } of effects.filter((effect) => effect.tool !== "pay")) {
    const question = answered.get(`${tool} ${what}`);
    expect(question?.answer, `${node} did ${tool} ${what}`).toBe("allow_once");
    expect(at, `${tool} ${what} before its answer`).toBeGreaterThanOrEqual(
      Date.parse(question?.answered_at ?? "") - 1,
    );
    yes.set(what, question!);
  }
  const texts = new Map<string, string>();
  for (const { text, answer } of answered.values()) {
    texts.set(text.split(" ")[1] ?? "", answer ?? "");
  }
  for (const { role, content } of messages) {
    const [, result, what = ""] =
      (role === "tool" ? /^(bought|refused) (\S+)$/.exec(content) : null) ?? [];
    if (result !== undefined) {
      expect(texts.get(what), content).toBe(result === "bought" ? "allow_once" : "deny");
      expect(yes.has(what), content).toBe(result === "bought");
    }
  }
  const replied = messages.flatMap(({ role, content }) =>
    role === "tool" ? (/^reply (by \d+)\n\n/.exec(content)?.[1] ?? []) : [],
  );
  expect(new Set(replied).size, "an answer for two calls").toBe(replied.length);
  const notes = new Set([...answered.values()].map(({ note }) => note));
  expect(replied.filter((note) => !notes.has(note))).toEqual([]);
}
