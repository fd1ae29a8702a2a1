import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Value } from "typebox/value";
import { expect, it } from "vitest";

import { EVENT_RESULT_BYTES } from "../../../src/core/limits.ts";
import { isRfc9562Uuid } from "../../../src/core/ids.ts";
import { ExchangeEvent } from "../../../src/exchange/events.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { type SentMessage, startModelServer } from "../../helpers/model-server.ts";

const LONG = `${"é".repeat(999)}\n`.repeat(4);

/** Reads a file, then answers. */
function reading(messages: readonly SentMessage[]) {
  const usage = { prompt_tokens: 7, completion_tokens: 3 };
  return messages.at(-1)?.role === "user"
    ? {
        content: "let me see",
        toolCalls: [{ name: "read_file", arguments: '{"path":"long.txt"}' }],
        usage,
      }
    : { content: "it is long", usage };
}

async function readingBench(): Promise<Bench> {
  const bench = await openBench(await startModelServer({ answer: reading, chunkSize: 4 }));
  writeFileSync(join(bench.repo, "long.txt"), LONG);
  return bench;
}

function ofType<const Type extends ExchangeEvent["type"]>(bench: Bench, type: Type) {
  return bench.events.filter(
    (event): event is Extract<ExchangeEvent, { type: Type }> => event.type === type,
  );
}

it("[EVENT-1] [EVENT-2] every event names its exchange and session, and no other field comes along", async () => {
  const bench = await readingBench();
  await bench.run({ text: "read it" });
  await bench.run({ text: "again" });
  const ids = [...new Set(bench.events.map(({ exchange_id }) => exchange_id))];
  expect(ids).toHaveLength(2);
  expect(ids.every(isRfc9562Uuid)).toBe(true);
  for (const event of bench.events) {
    expect(event.session_id).toBe(bench.session.id);
    expect([...Value.Errors(ExchangeEvent, event)]).toEqual([]);
  }
  expect(Value.Check(ExchangeEvent, { ...bench.events[0], more: 1 })).toBe(false);
});

it("[EVENT-3] [EVENT-13] started comes first and done last, with the last answer and the session's totals", async () => {
  const bench = await readingBench();
  const { session, messages } = await bench.run({ text: "read it" });
  expect(bench.events[0]).toMatchObject({
    type: "started",
    model: "openai:gpt-test",
    persona_name: "assistant",
  });
  expect(bench.events.at(-1)).toMatchObject({
    type: "done",
    message_id: messages.at(-1)?.message_id,
    last_seq: session.last_seq,
    total_input_tokens: 14,
    total_output_tokens: 6,
  });
});

it("[EVENT-20] the message of a tool's result names its call, and no other message names one", async () => {
  const bench = await readingBench();
  await bench.run({ text: "read it" });
  const [call] = ofType(bench, "tool_call");
  expect(call?.call_id).toEqual(expect.any(String));
  expect(ofType(bench, "message").map(({ role, call_id }) => [role, call_id])).toEqual([
    ["user", null],
    ["assistant", null],
    ["tool", call?.call_id],
    ["assistant", null],
  ]);
});

it("[EVENT-4] [EVENT-15] pieces of text name their answer; each stored message is named once with its seq", async () => {
  const bench = await readingBench();
  await bench.run({ text: "read it" });
  const rows = await bench.store.read(readMessagesAfter, {
    session_id: bench.session.id,
    after_seq: 0,
    all: true,
    limit: 10,
  });
  expect(
    ofType(bench, "message").map(({ seq, message_id, role }) => [seq, message_id, role]),
  ).toEqual(rows.map(({ seq, message_id, role }) => [seq, message_id, role]));
  const texts = new Map<string, string>();
  for (const { message_id, text } of ofType(bench, "text")) {
    texts.set(message_id, (texts.get(message_id) ?? "") + text);
  }
  expect([...texts]).toEqual(
    rows
      .filter(({ role }) => role === "assistant")
      .map(({ message_id, content }) => [message_id, content]),
  );
  expect(ofType(bench, "text").length).toBeGreaterThan(2);
});

it("[EVENT-5] [EVENT-16] a call and its result share an id; the result is cut and says how long it is", async () => {
  const bench = await readingBench();
  await bench.run({ text: "read it" });
  const [call] = ofType(bench, "tool_call");
  const [result] = ofType(bench, "tool_result");
  const [answer] = ofType(bench, "text");
  expect(call).toMatchObject({
    message_id: answer?.message_id,
    name: "read_file",
    args: { path: "long.txt" },
    effect: "reads",
    subject: "long.txt",
  });
  expect(result).toMatchObject({
    call_id: call?.call_id,
    name: "read_file",
    effect: "reads",
    subject: "long.txt",
    status: "ok",
  });
  expect(result?.content_bytes).toBeGreaterThan(6000);
  expect(Buffer.byteLength(result?.content ?? "")).toBeLessThanOrEqual(EVENT_RESULT_BYTES);
  expect(result?.content).toContain("éé");
  expect(result?.content).not.toContain("\u{FFFD}");
  expect(result?.duration_ms).toBeGreaterThanOrEqual(0);
});

it("[EVENT-16] a call that cannot run has a result with the status not_run", async () => {
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user"
        ? { toolCalls: [{ name: "no_such_tool", arguments: "{}" }] }
        : { content: "sorry" },
  });
  const bench = await openBench(server);
  await bench.run({ text: "go" });
  const [call] = ofType(bench, "tool_call");
  expect(ofType(bench, "tool_result")).toEqual([
    expect.objectContaining({
      call_id: call?.call_id,
      effect: null,
      status: "not_run",
      duration_ms: 0,
    }),
  ]);
});

it("[EVENT-6] the provider's counts are reported for each answer", async () => {
  const bench = await readingBench();
  await bench.run({ text: "read it" });
  const answers = ofType(bench, "message").filter(({ role }) => role === "assistant");
  expect(ofType(bench, "usage")).toEqual(
    answers.map(({ message_id }) =>
      expect.objectContaining({ message_id, input_tokens: 7, output_tokens: 3 }),
    ),
  );
});

it("[EVENT-13] [EVENT-14] a failure ends the events with its code and sentence, as a refusal before the start does", async () => {
  const server = await startModelServer({
    answer: () => ({ error: { message: "words of the provider" }, status: 401 }),
  });
  const bench = await openBench(server);
  await expect(bench.run({ text: "go" })).rejects.toMatchObject({ code: "model_unauthorized" });
  expect(bench.events.at(-1)).toMatchObject({
    type: "failed",
    code: "model_unauthorized",
    detail: expect.stringMatching(/refused the key.*: "words of the provider"/),
  });
  bench.events.length = 0;
  await bench.run({ session_id: crypto.randomUUID(), text: "go" }).catch(() => undefined);
  expect(bench.events).toEqual([
    expect.objectContaining({ type: "failed", code: "session_not_found" }),
  ]);
});

it("[EVENT-13] a stop ends the events with stopped, and nothing follows", async () => {
  const server = await startModelServer({
    answer: () => ({ content: "one two three four five six" }),
    chunkSize: 4,
    latencyMs: 10,
  });
  const bench = await openBench(server);
  const stop = new AbortController();
  const { messages } = await bench.run(
    { text: "go" },
    {
      signal: stop.signal,
      listener: (event) => {
        bench.events.push(event);
        if (event.type === "text") {
          stop.abort();
        }
      },
    },
  );
  const [text] = ofType(bench, "text");
  expect(bench.events.at(-1)).toMatchObject({ type: "stopped", message_id: text?.message_id });
  expect(messages.at(-1)?.message_id).toBe(text?.message_id);
});
