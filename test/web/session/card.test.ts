import { describe, expect, it } from "vitest";

import type { MessageInfo } from "../../../src/entries/client.ts";
import { cardAt } from "../../../web/session/exchange/card.ts";
import { callingMessage, messageInfo } from "./messages.ts";

const answer = (seq: number) => messageInfo(seq, { role: "assistant" });
const result = (seq: number, call_id: string, status: MessageInfo["status"] = "ok") =>
  messageInfo(seq, { role: "tool", call_id, status });

/** The card of each message: its first and last one, `-` for none, `?` if it is not known. */
function cardsOf(messages: readonly (MessageInfo | undefined)[], first = 1): string[] {
  const source = {
    get: (seq: number) => messages[seq - 1],
    first,
    last: messages.length,
  };
  return messages.map((_, index) => {
    const card = cardAt(index + 1, source);
    return card === undefined ? "?" : card === null ? "-" : `${card.first}-${card.last}`;
  });
}

describe("the work of an exchange as one card", () => {
  const whole = [
    messageInfo(1),
    callingMessage(2, ["read_file"], "I look."),
    result(3, "read_file-2-0"),
    callingMessage(4, ["run_command", "edit_file"]),
    result(5, "run_command-4-0", "failed"),
    result(6, "edit_file-4-1", "denied"),
    answer(7),
    messageInfo(8),
    answer(9),
  ];

  it("[PAGE-222] has all between a message and the answer, with its steps, failures and time", () => {
    expect(cardsOf(whole)).toEqual(["-", "2-6", "2-6", "2-6", "2-6", "2-6", "-", "-", "-"]);
    const card = cardAt(4, { get: (seq) => whole[seq - 1], last: whole.length });
    expect(card).toMatchObject({ hasAnswer: true, steps: 3, failed: 2 });
    expect(Date.parse(card?.ended_at ?? "") - Date.parse(card?.begun_at ?? "")).toBe(6000);
  });

  it("[PAGE-222] has no answer while the last message is a call or a result, or says nothing", () => {
    for (const end of [3, 4, 5]) {
      const messages = whole.slice(0, end);
      const card = cardAt(2, { get: (seq) => messages[seq - 1], last: end });
      expect(card).toMatchObject({ first: 2, last: end, hasAnswer: false });
    }
    const silent = [...whole.slice(0, 6), messageInfo(7, { role: "assistant", content: " " })];
    expect(cardsOf(silent)[1]).toBe("2-7");
  });

  it("[PAGE-222] is none for answers without calls, and begins after what is archived", () => {
    expect(cardsOf([messageInfo(1), answer(2), answer(3)])).toEqual(["-", "-", "-"]);
    expect(cardsOf(whole, 4).slice(3)).toEqual(["4-6", "4-6", "4-6", "-", "-", "-"]);
  });

  it("[PAGE-222] waits for its beginning, and shows what was read of its end", () => {
    const late = [undefined, ...whole.slice(1, 5), undefined, undefined];
    expect(cardsOf(late)).toEqual(["?", "?", "?", "?", "?", "?", "?"]);
    const early = [...whole.slice(0, 4), undefined, undefined, undefined];
    expect(cardsOf(early).slice(0, 4)).toEqual(["-", "2-4", "2-4", "2-4"]);
  });

  it("[PAGE-222] ends with a block, so that no row depends on what is far away", () => {
    const long = Array.from({ length: 2000 }, (_, index) =>
      index === 0 ? messageInfo(1) : callingMessage(index + 1, ["run_command"]),
    );
    const cards = new Set(cardsOf(long));
    expect([...cards]).toEqual(["-", "2-800", "801-1200", "1201-1600", "1601-2000"]);
  });
});
