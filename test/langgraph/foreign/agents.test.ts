import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { createDeepAgent } from "deepagents";
import {
  createAgent,
  humanInTheLoopMiddleware,
  summarizationMiddleware,
  todoListMiddleware,
} from "langchain";
import { describe } from "vitest";
import { z } from "zod";

import { ProgramModel } from "../../helpers/checkpoints/program-model.ts";
import { itBehavesTheSame } from "../../helpers/checkpoints/same-behaviour.ts";
import { scriptModel } from "../../helpers/checkpoints/script-model.ts";

const add = tool(({ a, b }) => String(a + b), {
  name: "add",
  description: "adds",
  schema: z.object({ a: z.number(), b: z.number() }),
});
const divide = tool(
  ({ a, b }) => {
    if (b === 0) {
      throw new RangeError("division by zero");
    }
    return String(a / b);
  },
  {
    name: "divide",
    description: "divides",
    schema: z.object({ a: z.number(), b: z.number() }),
  },
);

const ask = (content: string) => ({ messages: [new HumanMessage(content)] });
const call = (name: string, args: Record<string, unknown>) => ({ name, args });

describe("[SAVER-40] agents of libraries", () => {
  itBehavesTheSame("createReactAgent with tools side by side, one of which fails", async (run) => {
    const model = scriptModel({
      "add and divide": [
        [call("add", { a: 1, b: 2 }), call("divide", { a: 1, b: 0 }), call("add", { a: 3, b: 4 })],
        [call("divide", { a: 4, b: 2 })],
        "3, an error, 7 and 2",
      ],
      "thank you": ["You are welcome."],
    });
    const graph = createReactAgent({ llm: model, tools: [add, divide], checkpointer: run.saver });
    await run.send(graph, ask("add and divide"));
    await run.send(graph, ask("thank you"));
    await run.state(graph);
    await run.history(graph);
  });

  itBehavesTheSame("createReactAgent that stops before its tools and continues", async (run) => {
    const model = scriptModel({ add: [[call("add", { a: 1, b: 2 })], "3"] });
    const graph = createReactAgent({
      llm: model,
      tools: [add],
      checkpointer: run.saver,
      interruptBefore: ["tools"],
    });
    await run.send(graph, ask("add"));
    await run.state(graph);
    await run.send(graph, null);
    await run.send(graph, ask("add"));
    await run.send(graph, ask("another question instead"));
    await run.history(graph);
  });

  itBehavesTheSame("createAgent with to-dos, approvals and a summary", async (run) => {
    const model = scriptModel({
      "plan it": [
        [call("write_todos", { todos: [{ content: "add", status: "pending" }] })],
        [call("add", { a: 1, b: 2 }), call("divide", { a: 8, b: 2 })],
        [call("write_todos", { todos: [{ content: "add", status: "completed" }] })],
        "All done.",
      ],
      divide: [[call("divide", { a: 8, b: 2 })], "4"],
      "and again": [[call("divide", { a: 9, b: 3 })], "3"],
    });
    const { graph } = createAgent({
      model,
      tools: [add, divide],
      checkpointer: run.saver,
      middleware: [
        todoListMiddleware(),
        humanInTheLoopMiddleware({ interruptOn: { divide: true } }),
        summarizationMiddleware({
          model: new ProgramModel((messages) => new AIMessage(`a summary of ${messages.length}`)),
          trigger: { messages: 10 },
          keep: { messages: 4 },
        }),
      ],
    });
    await run.send(graph, ask("plan it"));
    await run.state(graph);
    const decide = (decision: object) => new Command({ resume: { decisions: [decision] } });
    await run.send(graph, decide({ type: "approve" }));
    await run.send(graph, ask("divide"));
    const edited = call("divide", { a: 100, b: 4 });
    await run.send(graph, decide({ type: "edit", editedAction: edited }));
    await run.send(graph, ask("and again"));
    await run.send(graph, decide({ type: "reject", message: "not today" }));
    await run.send(graph, ask("divide"));
    await run.history(graph);
  });

  itBehavesTheSame("deepagents with sub-agents and files", async (run) => {
    const model = scriptModel({
      "write a report": [
        [
          call("write_file", { file_path: "/notes.md", content: "# Notes\n\nOne.\n" }),
          call("write_file", { file_path: "/long.txt", content: "a line\n".repeat(400) }),
        ],
        [
          call("edit_file", { file_path: "/notes.md", old_string: "One.", new_string: "Two." }),
          call("task", { description: "research it", subagent_type: "researcher" }),
          call("task", { description: "look into it", subagent_type: "general-purpose" }),
        ],
        [call("read_file", { file_path: "/notes.md" }), call("ls", { path: "/" })],
        "The report is written.",
      ],
      "research it": [
        [call("write_file", { file_path: "/found.md", content: "something" })],
        "I found something.",
      ],
      "look into it": [[call("read_file", { file_path: "/notes.md" })], "It is there."],
      "change one line": [
        [call("edit_file", { file_path: "/long.txt", old_string: "a line\n", new_string: "b\n" })],
        [call("edit_file", { file_path: "/notes.md", old_string: "Two.", new_string: "Three." })],
        "Changed.",
      ],
    });
    const { graph } = createDeepAgent({
      model,
      tools: [add],
      checkpointer: run.saver,
      subagents: [{ name: "researcher", description: "researches", systemPrompt: "Research." }],
    });
    await run.send(graph, ask("write a report"));
    await run.send(graph, ask("change one line"));
    await run.state(graph);
    await run.history(graph);
  });
});
