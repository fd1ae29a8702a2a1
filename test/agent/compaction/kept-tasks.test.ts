import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";

import { hiddenTasks } from "../../../src/agent/compaction/kept-tasks.ts";
import { shownOf, summaryMessage, viewOf } from "../../../src/agent/compaction/view.ts";
import type { Task } from "../../../src/core/text/tasks.ts";
import { CALL_STATUS } from "../../../src/store/records/messages/call-facts.ts";
import type { CallStatus } from "../../../src/core/calls.ts";
import { estimateTokens } from "../../../src/core/text/text.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { type SentMessage, startModelServer } from "../../helpers/model-server.ts";

let count = 0;
const human = (text: string) => new HumanMessage({ id: `h${(count += 1)}`, content: text });

/** A call with a list, and its result. */
function listed(tasks: readonly Task[], status: CallStatus = "ok") {
  const id = `call_${(count += 1)}`;
  return [
    new AIMessage({
      id: `a${count}`,
      content: "",
      tool_calls: [{ id, name: "update_tasks", args: { tasks } }],
    }),
    new ToolMessage({
      id: `t${count}`,
      tool_call_id: id,
      content: "",
      response_metadata: { [CALL_STATUS]: status },
    }),
  ];
}

const TASKS: readonly Task[] = [
  { text: "read", state: "done" },
  { text: "write", state: "running" },
  { text: "test", state: "pending" },
];

/** Summarises what comes before a message, as an exchange does. */
function summarised(messages: readonly BaseMessage[], first: BaseMessage): BaseMessage[] {
  const view = viewOf(messages);
  const tasks = hiddenTasks({ ...view, cut: view.kept.indexOf(first) });
  const usage = { input_tokens: 1, output_tokens: 1 };
  return [
    ...messages,
    summaryMessage({ text: "SUMMARY", kept_from: first.id ?? "", tasks, files: "", usage }),
  ];
}

const shown = (messages: readonly BaseMessage[]): string =>
  shownOf(viewOf(messages)).summary[0]?.text ?? "";

describe("the to-do list after a summary", () => {
  it("[TASKS-11] is repeated to the model, without what is done", () => {
    const next = human("next");
    const text = shown(summarised([human("go"), ...listed(TASKS), next], next));
    expect(text).toContain("1 of 3 done");
    expect(text).toContain("<tasks>\n- running: write\n- pending: test\n</tasks>");
    expect(text).not.toContain("read");
  });

  it("[TASKS-11] is not repeated if all is done, if it is still shown, and without one", () => {
    const next = human("next");
    const done = TASKS.map((task) => ({ ...task, state: "done" as const }));
    const before = human("go");
    for (const messages of [
      [before, ...listed(done), next],
      [before, next],
      [before, ...listed(TASKS), next, ...listed(TASKS)],
    ]) {
      expect(shown(summarised(messages, next))).toContain("SUMMARY");
      expect(shown(summarised(messages, next))).not.toContain("<tasks>");
    }
    expect(shown([before, ...listed(TASKS)])).toBe("");
  });

  it("[TASKS-11] is the last that succeeded, clean, and has a bound", () => {
    const next = human("next");
    const of = (...lists: readonly BaseMessage[][]) =>
      shown(summarised([human("go"), ...lists.flat(), next], next));
    const pending = (text: string) => ({ text, state: "pending" as const });
    expect(of(listed(TASKS), listed([pending("wrong")], "denied"))).toContain("- running: write");
    const text = of(listed(Array.from({ length: 50 }, () => pending("x".repeat(300)))));
    expect(text.length).toBeLessThan(2600);
    expect(text).toContain("more that are not done");
    expect(of(listed([pending("a\u001b[2J")]))).not.toContain("\u001b");
    const damaged = summarised([human("go"), ...listed(TASKS), next], next);
    Object.assign(damaged.at(-1)?.additional_kwargs ?? {}, { reprise_tasks: [{ text: 5 }] });
    expect(shown(damaged)).not.toContain("<tasks>");
  });

  it("[TASKS-12] is sent unchanged until the next summary, which has it too", () => {
    const next = human("next");
    const before = summarised([human("go"), ...listed(TASKS), next], next);
    const after = [
      ...before,
      ...listed(TASKS.map((task) => ({ ...task, state: "done" as const }))),
    ];
    expect(shown(after)).toBe(shown(before));
    const last = human("last");
    expect(shown(summarised([...after, last], last))).not.toContain("<tasks>");
    expect(shown(summarised([...before, last], last))).toContain("- running: write");
  });

  it("[TASKS-12] reaches the model, and stays the same in the exchanges that follow", async () => {
    const isSummaryCall = (messages: readonly SentMessage[]) =>
      messages.at(-1)?.content.includes("<conversation>") ?? false;
    const server = await startModelServer({
      answer: (messages, index) => {
        const prompt_tokens = messages.reduce(
          (sum, { content }) => sum + estimateTokens(content),
          500,
        );
        const usage = { prompt_tokens, completion_tokens: 7 };
        return index === 0
          ? {
              usage,
              toolCalls: [{ name: "update_tasks", arguments: JSON.stringify({ tasks: TASKS }) }],
            }
          : { usage, content: isSummaryCall(messages) ? "SUMMARY" : `answer ${index}` };
      },
    });
    const bench = await openBench(server, { REPRISE_CONTEXT_TOKENS: "4000" });
    for (let index = 0; index < 6; index += 1) {
      await bench.run({ text: `question ${index} ${"word ".repeat(600)}` });
    }
    const summarised = server
      .requests()
      .filter((request) => request[0]?.content.includes("SUMMARY") && !isSummaryCall(request));
    expect(summarised.length).toBeGreaterThan(1);
    expect(summarised[0]?.[0]?.content).toContain("- running: write\n- pending: test");
    expect(new Set(summarised.map(([first]) => first?.content)).size).toBe(1);
    expect(server.refused()).toEqual([]);
  });
});
