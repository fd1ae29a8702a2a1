import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** What one of the tasks of a step does. */
export interface Task {
  readonly name: string;
  readonly does: "finish" | "ask" | "fail" | "ask in a subgraph";
}

/** A row of a table; a row with the same id takes its place. */
export interface Row {
  readonly id: number;
  readonly text: string;
}

export type Files = Readonly<Record<string, { readonly lines: readonly string[] } | null>>;

export const TASK_FAILED = "a task failed";

const STATE = Annotation.Root({
  ...MessagesAnnotation.spec,
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  /** Null removes a file. */
  files: Annotation<Files>({
    reducer: (a, b) =>
      Object.fromEntries(Object.entries({ ...a, ...b }).filter(([, file]) => file !== null)),
    default: () => ({}),
  }),
  rows: Annotation<readonly Row[]>({
    reducer: (a, b) => [...a.filter(({ id }) => b.every((row) => row.id !== id)), ...b],
    default: () => [],
  }),
  tasks: Annotation<readonly Task[]>({ reducer: (_, tasks) => tasks, default: () => [] }),
});

/** Messages, large records and lists; tasks side by side that ask, fail and have subgraphs. */
export function programGraph(checkpointer: BaseCheckpointSaver) {
  const failed = new Set<string>();
  const deep = new StateGraph(STATE)
    .addNode("ask", ({ tasks }) => {
      const [task] = tasks;
      return { log: [`${task?.name} ${String(interrupt({ deep: task }))}`] };
    })
    .addNode("note", ({ log }) => ({
      messages: [new AIMessage({ id: `deep ${log.at(-1)}`, content: "from a subgraph" })],
    }))
    .addEdge(START, "ask")
    .addEdge("ask", "note")
    .compile();
  return new StateGraph(STATE)
    .addNode("plan", () => ({}))
    .addNode("work", (task: Task) => {
      // once: a failed step is run again
      if (task.does === "fail" && !failed.has(task.name)) {
        failed.add(task.name);
        throw new Error(TASK_FAILED);
      }
      const answer: unknown = task.does === "ask" ? interrupt(task) : "done";
      return {
        log: [`${task.name} ${String(answer)}`],
        messages: [new AIMessage({ id: `of ${task.name}`, content: task.name })],
      };
    })
    .addNode("deep", deep)
    .addNode("report", ({ messages, files, log }) => ({
      messages: [new AIMessage(`after ${messages.length}: ${log.at(-1)}`)],
      files: withChangedLine(files, log.length),
      rows: [{ id: log.length % 7, text: `row ${messages.length}` }],
    }))
    .addEdge(START, "plan")
    .addConditionalEdges("plan", sendTasks, ["work", "deep", "report"])
    .addEdge("work", "report")
    .addEdge("deep", "report")
    .compile({ checkpointer });
}

export type ProgramGraph = ReturnType<typeof programGraph>;

function sendTasks({ tasks, messages }: typeof STATE.State): Send[] | "report" {
  return tasks.length === 0
    ? "report"
    : tasks.map((task) =>
        task.does === "ask in a subgraph"
          ? new Send("deep", { tasks: [task], messages })
          : new Send("work", task),
      );
}

function withChangedLine(files: Files, at: number): Files {
  const names = Object.keys(files);
  const name = names[at % Math.max(names.length, 1)];
  const lines = name === undefined ? [] : (files[name]?.lines ?? []);
  return name === undefined
    ? {}
    : { [name]: { lines: lines.with(at % lines.length, `changed ${at}`) } };
}
