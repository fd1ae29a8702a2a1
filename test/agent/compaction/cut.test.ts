import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { tokenCountOf } from "../../../src/store/records/messages/mirror-row.ts";
import { cutToFit, cutToLastExchange } from "../../../src/agent/compaction/cut.ts";
import { shownOf, summaryMessage, viewOf } from "../../../src/agent/compaction/view.ts";

/** Threads as agents make them: calls side by side, in rounds, and some left without a result. */
const thread = fc
  .array(
    fc.record({
      questions: fc.integer({ min: 1, max: 2 }),
      rounds: fc.array(fc.record({ calls: fc.integer({ min: 1, max: 3 }), lost: fc.boolean() }), {
        maxLength: 3,
      }),
      size: fc.integer({ min: 1, max: 400 }),
      answered: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((exchanges) => {
    const messages: BaseMessage[] = [];
    const id = (): string => `m${messages.length}`;
    for (const { questions, rounds, size, answered } of exchanges) {
      for (let index = 0; index < questions; index += 1) {
        messages.push(new HumanMessage({ id: id(), content: "q".repeat(size) }));
      }
      for (const { calls, lost } of rounds) {
        const ids = Array.from({ length: calls }, (_, index) => `${id()}-${index}`);
        const tool_calls = ids.map((call) => ({ id: call, name: "look", args: {} }));
        messages.push(new AIMessage({ id: id(), content: "", tool_calls }));
        for (const call of lost ? ids.slice(1) : ids) {
          messages.push(
            new ToolMessage({ id: id(), tool_call_id: call, content: "r".repeat(size) }),
          );
        }
      }
      if (answered) {
        messages.push(new AIMessage({ id: id(), content: "a".repeat(size) }));
      }
    }
    return messages;
  });

function renamed(message: BaseMessage, id: string): BaseMessage {
  const fields = { ...message.lc_kwargs, id };
  return Reflect.construct(message.constructor, [fields]) as BaseMessage;
}

function expectWhole(messages: readonly BaseMessage[]): void {
  const asked = new Set<string>();
  for (const message of messages) {
    if (ToolMessage.isInstance(message)) {
      expect(asked).toContain(message.tool_call_id);
    } else if (AIMessage.isInstance(message)) {
      for (const { id } of message.tool_calls ?? []) {
        asked.add(id ?? "");
      }
    }
  }
}

describe("[LONG-5] [LONG-5] the cut of a compaction", () => {
  it("never falls between a call and its result, and always keeps the end", () => {
    fc.assert(
      fc.property(thread, fc.integer({ min: 0, max: 1000 }), (messages, keep) => {
        for (const cut of [cutToFit(messages, keep), cutToLastExchange(messages)]) {
          expect(cut).toBeGreaterThanOrEqual(0);
          expect(cut).toBeLessThan(messages.length);
          expectWhole(messages.slice(cut));
        }
      }),
    );
  });

  it("keeps at most the requested amount if possible, and whole exchanges if one is near", () => {
    fc.assert(
      fc.property(thread, fc.integer({ min: 0, max: 1000 }), (messages, keep) => {
        const cut = cutToFit(messages, keep);
        const kept = messages.slice(cut);
        const sum = kept.reduce((all, message) => all + tokenCountOf(message), 0);
        const lastHuman = messages.findLastIndex(({ type }) => type === "human");
        const exchange = messages.slice(lastHuman);
        const fits = exchange.reduce((all, message) => all + tokenCountOf(message), 0) <= keep;
        if (fits && lastHuman > 0) {
          expect(kept[0]?.type).toBe("human");
          expect(sum).toBeLessThanOrEqual(keep);
        }
      }),
    );
  });

  it("can be made repeatedly, and what is sent stays complete and begins with the summary", () => {
    fc.assert(
      fc.property(thread, thread, fc.integer({ min: 0, max: 500 }), (first, second, keep) => {
        const all: BaseMessage[] = [];
        for (const [index, part] of [first, second].entries()) {
          // the same exchanges twice, but other messages
          all.push(...part.map((message) => renamed(message, `${index}-${message.id}`)));
          const view = viewOf(all);
          const cut = cutToFit(view.kept, keep);
          if (cut > 0) {
            const kept_from = view.kept[cut]?.id ?? "";
            const usage = { input_tokens: 1, output_tokens: 1 };
            const kept = view.kept.slice(cut);
            all.push(
              summaryMessage({ text: `summary ${index}`, kept_from, tasks: [], files: "", usage }),
            );
            const { summary, messages } = shownOf(viewOf(all));
            expect(summary.map(({ text }) => text)).toEqual([
              expect.stringContaining(`summary ${index}`),
            ]);
            expect(messages[0]?.id).toBe(kept_from);
            expect(messages).toEqual(kept);
            expectWhole(messages);
          }
        }
      }),
    );
  });
});
