import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { pruneThread } from "../../../src/store/checkpoints/prune.ts";
import { startThread } from "../../../src/store/records/sessions/change.ts";
import { acceptChoices, acceptMessages } from "../../../src/store/records/messages/waiting.ts";
import type { Store } from "../../../src/store/store.ts";
import { leasedStore } from "../checkpoints/leased-store.ts";
import { newSession } from "../engines.ts";
import { currentThread, pendingQuestions } from "./thread.ts";
import { GUEST, localPrincipal } from "../../../src/core/principal.ts";

/** What happens in a session, one after another. */
export type Step =
  | {
      readonly do: "exchange";
      readonly text: string;
      /** True for an answer that calls nothing. */
      readonly plain?: true;
    }
  /** Stored, and not handed to the agent. */
  | { readonly do: "pending"; readonly text: string }
  /** The same by a caller without authentication, and what lets the agent have it. */
  | { readonly do: "held"; readonly text: string }
  | { readonly do: "accept" }
  | { readonly do: "edit" | "remove"; readonly at: number }
  /** Continues from an earlier checkpoint. */
  | { readonly do: "fork"; readonly at: number }
  | { readonly do: "clear" | "restart" | "fold" };

export interface Plan {
  readonly steps: readonly Step[];
  readonly children: readonly Plan[];
}

const AT_TERMINAL = localPrincipal("terminal", null);

/** Stores a session, and its sub-agents, in which everything has happened. Returns its id. */
export async function makeSession(
  store: Store,
  plan: Plan,
  parent: { readonly id: string; readonly call: string | null } | null = null,
): Promise<string> {
  const { id } = await newSession(store, {
    persona_name: "assistant",
    principal: GUEST,
    repo_path: "/home/ada/thesis",
    parent_session_id: parent?.id ?? null,
    parent_call_id: parent?.call ?? null,
  });
  for (const step of plan.steps) {
    await runStep(store, id, step);
  }
  const calls = await callsOf(store, id);
  for (const [index, child] of plan.children.entries()) {
    await makeSession(store, child, { id, call: calls[index] ?? null });
  }
  return id;
}

/** Ids of the tool calls in a session's messages. */
export async function callsOf(store: Store, id: string): Promise<string[]> {
  const after = { session_id: id, after_seq: 0, all: true, limit: 1000 };
  const messages = await store.read(readMessagesAfter, after);
  return [...new Set(messages.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ id }) => id))];
}

export async function runStep(store: Store, id: string, step: Step): Promise<void> {
  switch (step.do) {
    case "pending":
      await store.write(appendUserMessage, {
        reference: id,
        content: step.text,
        principal: AT_TERMINAL,
        idempotency_key: `key-${step.text.length}-${Math.random()}`,
      });
      return;
    case "held":
      await store.write(appendUserMessage, {
        reference: id,
        content: step.text,
        principal: GUEST,
      });
      return;
    case "accept":
      await store.write(acceptMessages, { session_id: id, through_seq: 1000 });
      await store.write(acceptChoices, { session_id: id, through_change: 1000 });
      return;
    case "fold":
      await leasedStore(store).write(pruneThread, {
        thread_id: await currentThread(store, id),
        fence: null,
      });
      return;
    case "clear":
    case "restart":
      await store.write(startThread, {
        id,
        archive: step.do === "clear",
        model: "demo",
        principal: AT_TERMINAL,
      });
      return;
    default:
      await inThread(store, id, step);
  }
}

type ThreadStep = Extract<Step, { do: "exchange" | "edit" | "remove" | "fork" }>;

async function inThread(store: Store, id: string, step: ThreadStep): Promise<void> {
  const graph = answerer(store, step.do === "exchange" && step.plain === true);
  const config = {
    configurable: { thread_id: await currentThread(store, id) },
    durability: "sync" as const,
  };
  const history = await Array.fromAsync(graph.getStateHistory(config));
  if (step.do === "exchange") {
    await store.write(appendUserMessage, {
      reference: id,
      content: step.text,
      principal: AT_TERMINAL,
    });
    const messages = await pendingQuestions(store, id);
    await graph.invoke({ messages }, config);
    return;
  }
  const messages: BaseMessage[] = history[0]?.values.messages ?? [];
  const message = messages[step.at % Math.max(messages.length, 1)];
  const older = history[step.at % Math.max(history.length, 1)];
  if (step.do === "fork" && older !== undefined) {
    await graph.invoke({ messages: [new HumanMessage("another way")] }, older.config);
  } else if (step.do === "remove" && message?.id !== undefined) {
    await graph.updateState(config, { messages: [new RemoveMessage({ id: message.id })] });
  } else if (step.do === "edit" && message?.id !== undefined) {
    await graph.updateState(config, {
      messages: [new HumanMessage({ id: message.id, content: "edited" })],
    });
  }
}

const STATE = Annotation.Root({
  ...MessagesAnnotation.spec,
  files: Annotation<Readonly<Record<string, string>>>({
    reducer: (files, written) => ({ ...files, ...written }),
    default: () => ({}),
  }),
});

/** An agent of two steps whose state has more than messages. */
function answerer(store: Store, isPlain: boolean) {
  return new StateGraph(STATE)
    .addNode("answer", ({ messages }) => ({
      files: { [`/${messages.length % 4}.txt`]: `${messages.length} `.repeat(600) },
      messages: [
        new AIMessage({
          content: `after ${messages.length}`,
          tool_calls: isPlain
            ? []
            : [{ id: `c${messages.length}`, name: "look", args: { at: "x".repeat(130) } }],
        }),
      ],
    }))
    .addEdge(START, "answer")
    .compile({ checkpointer: createCheckpointSaver({ store: leasedStore(store) }) });
}
