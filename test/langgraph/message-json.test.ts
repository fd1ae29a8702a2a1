import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { bodyText, reviverOf } from "../../src/langgraph/messages/message-codec.ts";
import { type MessageJson, readMessage } from "../../src/store/records/messages/message-json.ts";
import { mirrorOf } from "../../src/store/records/messages/mirror-row.ts";
import { anyText } from "../helpers/any-text.ts";

/*
 * The agent reads messages with LangChain's classes, verify and import read the same bodies as JSON:
 * both must come to the same rows.
 */

const text = fc.oneof(anyText(), fc.constantFrom("", "\0", "\ud800", "lc"));
const json = fc
  .jsonValue({ maxDepth: 3 })
  .chain((value) =>
    fc.constantFrom<unknown>(value, { lc: 1, id: value }, { __lc_escaped__: value }),
  );
const content = fc.oneof(
  text,
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant("text" as const), text }),
      fc.record({ type: fc.constant("image_url" as const), image_url: text }),
      fc.record({ type: fc.constant("text" as const), text, lc: fc.constant(1) }),
    ),
    { maxLength: 3 },
  ),
);
const count = fc.oneof(fc.nat(), fc.constantFrom(-1, 0.5));
const usage_metadata = fc.option(
  fc.record({ input_tokens: count, output_tokens: count, total_tokens: count }),
  { nil: undefined },
);
const tool_calls = fc.array(
  fc.record({
    id: fc.option(text, { nil: undefined }),
    name: text,
    args: fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), json, { maxKeys: 3 }),
  }),
  { maxLength: 3 },
);
/** LangChain's JSON of a message leaves `__proto__` out of parsed arguments, but has it in the text of streamed ones. */
const hostileArgs = fc.constantFrom(
  '{"__proto__":{"a":1}}',
  '{"x":{"__proto__":1},"y":"\\ud800"}',
  '{"__pro\\u0074o__":[{"__proto__":null}]}',
  '{"a":"__proto__',
  "__proto__",
);
const fields = {
  id: fc.uuid(),
  content,
  additional_kwargs: fc.constantFrom<Record<string, unknown>>(
    {},
    { lc_source: "summarization" },
    { lc_source: "summarization", reprise_kept_from: "x" },
    { tool_calls: [{ id: "1", type: "function", function: { name: "n", arguments: "{}" } }] },
  ),
  response_metadata: fc.constantFrom<Record<string, unknown>>({}, { output_version: "v1" }),
};
const common = fc.record(fields);
const message: fc.Arbitrary<BaseMessage> = fc.oneof(
  common.map((own) => new HumanMessage(own)),
  common.map((own) => new HumanMessageChunk(own)),
  common.map((own) => new SystemMessage(own)),
  common.map((own) => new ToolMessage({ ...own, tool_call_id: "1", artifact: { lc: 1 } })),
  common.map((own) => new ToolMessageChunk({ ...own, tool_call_id: "1" })),
  common.map((own) => new FunctionMessage({ ...own, name: "f" })),
  common.map((own) => new ChatMessage({ ...own, role: "r" })),
  common.map(({ id }) => new RemoveMessage({ id })),
  fc.record({ ...fields, usage_metadata, tool_calls }).map((own) => new AIMessage(own)),
  fc.record({ ...fields, usage_metadata, tool_calls }).map((own) => new AIMessageChunk(own)),
  fc
    .record({
      ...fields,
      args: fc.oneof(
        json.map((value) => JSON.stringify({ a: value })),
        hostileArgs,
      ),
    })
    .map(
      ({ args, ...own }) =>
        new AIMessageChunk({
          ...own,
          tool_call_chunks: [
            { id: "1", index: 0, name: "n", args },
            { id: "2", index: 1, name: "m", args: "{}" },
          ],
        }),
    ),
);

describe("the body of a message, read as JSON", () => {
  it("[PROOF-1] gives the row that the message gave, and that LangChain's own class gives again", async () => {
    // LangChain warns of the raw calls of older providers
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined);
    onTestFinished(() => warn.mockRestore());
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 4 }), async (messages) => {
        const bodies = messages.map(bodyText);
        const again = await Promise.all(bodies.map(async (body) => reviverOf(body)()));
        const read = bodies.flatMap((body) => readMessage(body) ?? []);
        expect(rowsOf(read)).toEqual(rowsOf(again));
        expect(rowsOf(read)).toEqual(rowsOf(messages));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["no JSON", "x"],
    ["an object", '{"id":"1"}'],
    ["no class", '["Message",{"id":"1"}]'],
    ["a class of somebody else", '[["else","messages","AIMessage"],{"id":"1"}]'],
    ["no fields", '["HumanMessage",7]'],
    ["content that is none", '["HumanMessage",{"id":"1","content":7}]'],
    ["a call without a name", '["AIMessage",{"id":"1","content":"","tool_calls":[{"id":"1"}]}]'],
    ["a list of calls that is none", '["AIMessage",{"id":"1","content":"","tool_calls":7}]'],
    [
      "a secret",
      '["HumanMessage",{"id":"1","content":"","x":{"lc":1,"type":"secret","id":["A"]}}]',
    ],
    [
      "a record that cannot be made again",
      '["HumanMessage",{"id":"1","content":"","x":{"lc":1,"type":"not_implemented","id":["A"]}}]',
    ],
  ])("is not a message if it has %s", (_, body) => {
    expect(readMessage(body)).toBeNull();
  });

  it("is a message if its class is a path", () => {
    const body = '[["langchain_core","messages","ai","AIMessage"],{"id":"1","content":"a"}]';
    expect(readMessage(body)).toMatchObject({ type: "ai", content: "a" });
  });
});

/** Without the call that a result answers: no row has it. */
function rowsOf(messages: readonly MessageJson[]) {
  return messages.map((_, index) => {
    const row = mirrorOf(messages, index);
    return row === null ? null : { ...row, call_id: undefined };
  });
}
