import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  type BaseCheckpointSaver,
  END,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";

import { answerOf, fileText, questionOf, TOOL_ROUNDS } from "../texts.ts";

/** A graph and what an exchange gives it. Its answers depend on nothing but the exchange. */
export interface Workload {
  readonly title: string;
  /** Runs exchange `index` of a thread. */
  start(checkpointer: BaseCheckpointSaver): (thread_id: string, index: number) => Promise<unknown>;
}

export const WORKLOADS = {
  plain: {
    title: "500 B and 500 B",
    start: (checkpointer) =>
      exchanges(
        new StateGraph(MessagesAnnotation)
          .addNode("model", ({ messages }) => ({ messages: answerOf(messages.slice(-1), 0) }))
          .addEdge(START, "model")
          .compile({ checkpointer }),
      ),
  },
  tools: {
    title: `${TOOL_ROUNDS} tool rounds of 4 KB`,
    start: (checkpointer) =>
      exchanges(
        new StateGraph(MessagesAnnotation)
          .addNode("model", ({ messages }) => ({
            messages: answerOf(sinceQuestion(messages), TOOL_ROUNDS),
          }))
          .addNode("tools", ({ messages }) => ({ messages: resultsOf(messages.at(-1)) }))
          .addEdge(START, "model")
          .addConditionalEdges("model", ({ messages }) => {
            const last = messages.at(-1);
            return AIMessage.isInstance(last) && last.tool_calls?.length ? "tools" : END;
          })
          .addEdge("tools", "model")
          .compile({ checkpointer }),
      ),
  },
  files: {
    title: "a 50 KB files channel, one line changes",
    start: (checkpointer) =>
      exchanges(
        new StateGraph(
          Annotation.Root({
            ...MessagesAnnotation.spec,
            files: Annotation<Record<string, string>>({
              reducer: (before, after) => ({ ...before, ...after }),
              default: startingFiles,
            }),
          }),
        )
          .addNode("model", ({ messages, files }) => ({
            messages: answerOf(messages.slice(-1), 0),
            files: changedFile(files, messages.length),
          }))
          .addEdge(START, "model")
          .compile({ checkpointer }),
      ),
  },
  large: {
    title: "answers of 1 MB",
    start: (checkpointer) =>
      exchanges(
        new StateGraph(MessagesAnnotation)
          .addNode("model", ({ messages }) => ({
            messages: new AIMessage(uniqueText(`answer ${messages.length} `, 2 ** 20)),
          }))
          .addEdge(START, "model")
          .compile({ checkpointer }),
      ),
  },
} as const satisfies Readonly<Record<string, Workload>>;

export type WorkloadName = keyof typeof WORKLOADS;

export function isWorkload(name: string): name is WorkloadName {
  return name in WORKLOADS;
}

interface Invoked {
  invoke(
    input: { messages: BaseMessage[] },
    config: { configurable: { thread_id: string }; durability: "sync" },
  ): Promise<unknown>;
}

function exchanges(graph: Invoked) {
  return (thread_id: string, index: number) =>
    graph.invoke(
      { messages: [new HumanMessage(questionOf(index))] },
      { configurable: { thread_id }, durability: "sync" },
    );
}

/** A model is sent the whole thread; what this one says depends on the last exchange alone. */
function sinceQuestion(messages: readonly BaseMessage[]): readonly BaseMessage[] {
  return messages.slice(messages.findLastIndex((message) => HumanMessage.isInstance(message)));
}

function resultsOf(answer: BaseMessage | undefined): ToolMessage[] {
  const calls = AIMessage.isInstance(answer) ? (answer.tool_calls ?? []) : [];
  return calls.map(
    ({ id = "" }) =>
      new ToolMessage({ content: fileText(id), tool_call_id: id, name: "read_file" }),
  );
}

const FILES = 10;
const LINES = 100;
/** With its line break. */
const LINE_BYTES = 51;

function startingFiles(): Record<string, string> {
  const names = Array.from({ length: FILES }, (_, index) => `/src/file-${index}.ts`);
  return Object.fromEntries(
    names.map((name) => [
      name,
      Array.from({ length: LINES }, (_, line) => lineOf(`${name}:${line}`)).join("\n"),
    ]),
  );
}

function changedFile(files: Readonly<Record<string, string>>, step: number) {
  const name = `/src/file-${step % FILES}.ts`;
  const lines = (files[name] ?? "").split("\n");
  lines[(step * 7) % LINES] = lineOf(`changed in step ${step}`);
  return { [name]: lines.join("\n") };
}

function lineOf(text: string): string {
  return text.padEnd(LINE_BYTES - 1, ".");
}

/** No part of it is in another one. */
function uniqueText(seed: string, bytes: number): string {
  let text = "";
  for (let part = 0; text.length < bytes; part += 1) {
    text += `${seed}${part} `;
  }
  return text.slice(0, bytes);
}
