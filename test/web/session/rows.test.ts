import { describe, expect, it } from "vitest";

import type { MessageInfo } from "../../../src/entries/client.ts";
import { type Row, rowOf } from "../../../web/session/rows.ts";
import { callingMessage, messageInfo } from "./messages.ts";

/** What the rows show, in words: `message 1`, `calls 2: read_file=3`, `-` for hidden ones, `…` for absent ones. */
function shown(messages: readonly MessageInfo[], { last = messages.length } = {}): string[] {
  const bySeq = new Map(messages.map((message) => [message.seq, message]));
  return Array.from({ length: last }, (_, index) =>
    wordsOf(rowOf(index + 1, { get: (seq) => bySeq.get(seq), last })),
  );
}

function wordsOf(row: Row): string {
  if (row.kind !== "message") {
    return row.kind === "hidden" ? "-" : "…";
  }
  const calls = row.calls.map(
    ({ call, result }) => `${call.name}=${result === undefined ? "?" : (result?.seq ?? "none")}`,
  );
  return `${row.message.role} ${row.message.seq}${calls.length === 0 ? "" : `: ${calls.join(" ")}`}`;
}

const result = (seq: number, call_id: string) => messageInfo(seq, { role: "tool", call_id });

describe("rows of a transcript", () => {
  it("[PAGE-62] shows results with their calls", () => {
    const messages = [
      messageInfo(1),
      callingMessage(2, ["run_command", "write_file"], "I begin."),
      result(3, "run_command-2-0"),
      messageInfo(4),
      result(5, "write_file-2-1"),
      messageInfo(6, { role: "assistant" }),
    ];
    expect(shown(messages)).toEqual([
      "user 1",
      "assistant 2: run_command=3 write_file=5",
      "-",
      "user 4",
      "-",
      "assistant 6",
    ]);
  });

  it("[PAGE-62] shows results that came in another order with their calls", () => {
    const messages = [callingMessage(1, ["a", "b"]), result(2, "b-1-1"), result(3, "a-1-0")];
    expect(shown(messages)).toEqual(["assistant 1: a=3 b=2", "-", "-"]);
  });

  it("[PAGE-62] shows a result that names no call of the answer by itself", () => {
    const results = [result(2, "x"), result(3, "a-1-0"), result(4, "b-1-1")];
    expect(shown([callingMessage(1, ["a", "b"]), ...results])).toEqual([
      "assistant 1: a=3 b=4",
      "tool 2",
      "-",
      "-",
    ]);
  });

  it("[PAGE-62] joins consecutive answers that only read to one group, and ends it with other calls", () => {
    const messages = [
      callingMessage(1, ["read_file"], "Let me see."),
      result(2, "read_file-1-0"),
      callingMessage(3, ["read_file", "look"]),
      result(4, "read_file-3-0"),
      result(5, "look-3-1"),
      callingMessage(6, ["run_command"]),
      result(7, "run_command-6-0"),
      callingMessage(8, ["search_files"]),
      result(9, "search_files-8-0"),
    ];
    expect(shown(messages)).toEqual([
      "assistant 1: read_file=2 read_file=4 look=5",
      "-",
      "-",
      "-",
      "-",
      "assistant 6: run_command=7",
      "-",
      "assistant 8: search_files=9",
      "-",
    ]);
  });

  it("[PAGE-62] has no group over a page of messages, so that no row depends on what is far away", () => {
    const messages = Array.from({ length: 202 }, (_, index) =>
      index % 2 === 0
        ? callingMessage(index + 1, ["read_file"])
        : result(index + 1, `read_file-${index}-0`),
    );
    const heads = shown(messages).flatMap((row, index) => (row === "-" ? [] : [index + 1]));
    expect(heads).toEqual([1, 101, 201]);
  });

  it("[PAGE-62] shows a result that is not there otherwise than one that was not read", () => {
    const calls = callingMessage(1, ["a", "b"]);
    expect(shown([calls, result(2, "a-1-0"), callingMessage(3, ["c"])])).toEqual([
      "assistant 1: a=2 b=none",
      "-",
      "assistant 3: c=none",
    ]);
    expect(shown([calls, result(2, "a-1-0")], { last: 3 })).toEqual([
      "assistant 1: a=2 b=?",
      "-",
      "…",
    ]);
    expect(shown([messageInfo(1), result(2, "x"), result(3, "y")])).toEqual([
      "user 1",
      "tool 2",
      "tool 3",
    ]);
    expect(shown([result(3, "x")], { last: 3 })).toEqual(["…", "…", "…"]);
  });
});
