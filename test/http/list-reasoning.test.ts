import { AIMessage, type MessageContent, ToolMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { EVENT_REASONING_BYTES, MAX_REASONING_BYTES } from "../../src/core/limits.ts";
import { startTestServer } from "../helpers/server.ts";
import { type Bench, openBench } from "../helpers/sessions/bench.ts";

async function serve(bench: Bench) {
  const t = await startTestServer({ store: bench.store });
  return Object.assign(t, { client: createClient({ baseUrl: t.url }) });
}

interface Kept {
  readonly content?: MessageContent;
  readonly beside?: Record<string, unknown>;
  readonly output?: readonly object[];
}

/** An exchange whose answer has this reasoning, in the form of a provider. */
async function answer(bench: Bench, id: string, { content = "", beside = {}, output }: Kept) {
  await bench.append("question");
  await bench.put(
    new AIMessage({
      id,
      content,
      additional_kwargs: beside,
      ...(output === undefined ? {} : { response_metadata: { output } }),
    }),
  );
}

const thinking = (words: string) => ({ type: "thinking", thinking: words, signature: "c2ln" });

it("[HTTP-296] returns what models thought before answers, in the form of each provider", async () => {
  const bench = await openBench();
  await using t = await serve(bench);
  await answer(bench, "claude", { content: [thinking("one"), thinking("two")] });
  await answer(bench, "redacted", { content: [{ type: "redacted_thinking", data: "c2Vj" }] });
  await answer(bench, "omitted", { content: [thinking("")] });
  await answer(bench, "deepseek", { beside: { reasoning_content: "three" } });
  await bench.freshThread(true);
  await answer(bench, "none", { content: "answer" });
  const encrypted = { type: "reasoning", id: "rs", encrypted_content: "c2Vj" };
  const shown = { ...encrypted, summary: [{ text: "four" }, { text: "five" }] };
  await answer(bench, "responses", { output: [shown] });
  await answer(bench, "encrypted", { output: [{ ...encrypted, summary: [] }] });
  const all = await t.client.listReasoning(bench.id.slice(0, 8));
  expect(all.map(({ message_id, text, is_hidden }) => [message_id, text, is_hidden])).toEqual([
    ["claude", "one\n\ntwo", false],
    ["redacted", "", true],
    ["omitted", "", true],
    ["deepseek", "three", false],
    ["responses", "four\n\nfive", false],
    ["encrypted", "", true],
  ]);
  const { messages } = await t.client.getSession(bench.id, { all: true });
  for (const { seq, message_id } of all) {
    expect(messages.find((message) => message.seq === seq)?.message_id).toBe(message_id);
    const one = await t.client.listReasoning(bench.id, { after_seq: seq - 1, before_seq: seq + 1 });
    expect(one.map((each) => each.seq)).toEqual([seq]);
  }
  expect(await t.client.listReasoning(bench.id, { after_seq: 999 })).toEqual([]);
  expect(JSON.stringify(all)).not.toContain("c2Vj");
});

it("[HTTP-296] finds answers far from the end, between large results of tools", async () => {
  const bench = await openBench();
  await using t = await serve(bench);
  await answer(bench, "first", { content: [thinking("long ago")] });
  for (let n = 1; n <= 130; n += 1) {
    await bench.append(`question ${n}`);
    await bench.put(
      new AIMessage({
        id: `a${n}`,
        content: "",
        tool_calls: [{ id: `c${n}`, name: "t", args: {} }],
      }),
      new ToolMessage({ id: `r${n}`, tool_call_id: `c${n}`, content: "x".repeat(1000) }),
    );
  }
  const [found] = await t.client.listReasoning(bench.id, { before_seq: 3 });
  expect(found).toMatchObject({ message_id: "first", text: "long ago", bytes: 8 });
});

it("[HTTP-297] cuts each text, and all of them together", async () => {
  const bench = await openBench();
  await using t = await serve(bench);
  await answer(bench, "a", { content: [thinking("é".repeat(MAX_REASONING_BYTES))] });
  await answer(bench, "b", { content: [thinking("short")] });
  const bytes = 2 * MAX_REASONING_BYTES;
  const sizes = async (query: { readonly max_bytes?: number }) =>
    (await t.client.listReasoning(bench.id, query)).map((one) => [
      Buffer.byteLength(one.text),
      one.bytes,
    ]);
  expect(await sizes({})).toEqual([
    [EVENT_REASONING_BYTES, bytes],
    [5, 5],
  ]);
  expect(await sizes({ max_bytes: 3 })).toEqual([
    [2, bytes],
    [3, 5],
  ]);
  expect(await sizes({ max_bytes: MAX_REASONING_BYTES })).toEqual([
    [MAX_REASONING_BYTES / 2, bytes],
    [5, 5],
  ]);
  const path = `/api/sessions/${bench.id}/reasoning`;
  for (const query of ["max_bytes=0", `max_bytes=${bytes}`, "after_seq=-1", "all=true"]) {
    expect((await t.call("GET", `${path}?${query}`)).status, query).toBe(422);
  }
  expect((await t.call("GET", "/api/sessions/ffffffff/reasoning")).status).toBe(404);
});

it("[HTTP-296] leaves out what a damaged thread holds", async () => {
  const bench = await openBench();
  await using t = await serve(bench);
  await answer(bench, "a", { content: [thinking("before")] });
  await bench.freshThread(false);
  await answer(bench, "b", { content: [thinking("after")] });
  await bench.plant(
    "UPDATE checkpoints SET channels = '{' WHERE thread = (SELECT min(id) FROM threads)",
  );
  const found = await t.client.listReasoning(bench.id);
  expect(found.map(({ message_id }) => message_id)).toEqual(["b"]);
});
