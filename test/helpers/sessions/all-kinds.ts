import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";

import { offeredChoices, permissionChoices } from "../../../src/core/text/words.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { summaryMessage } from "../../../src/agent/compaction/view.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { threadId } from "../../../src/core/threads.ts";
import { ASKED_BY } from "../../../src/core/exchanges.ts";
import { newId } from "../../../src/core/ids.ts";
import { GUEST, type Principal, localPrincipal } from "../../../src/core/principal.ts";
import type { Fence } from "../../../src/store/records/leases/fence.ts";
import { finishExchange } from "../../../src/store/checkpoints/finish.ts";
import { queueExchange } from "../../../src/store/records/exchanges/queue.ts";
import { releaseLease, takeLease } from "../../../src/store/records/leases/lease.ts";
import {
  type NumberedCall,
  storeCallsAlone,
} from "../../../src/store/records/model-calls/store-calls.ts";
import { NO_COUNTS, TOKEN_KINDS } from "../../../src/core/cost/model-calls.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import { forkSession } from "../../../src/store/checkpoints/forks/fork-session.ts";
import { endSession, startThread } from "../../../src/store/records/sessions/change.ts";
import { markChosen } from "../../../src/store/records/sessions/choose.ts";
import { createSession, type NewSession } from "../../../src/store/records/sessions/create.ts";
import { createSessionOnce } from "../../../src/store/records/sessions/create-once.ts";
import { acceptChoices, acceptMessages } from "../../../src/store/records/messages/waiting.ts";
import { createRun } from "../../../src/store/records/plans/create-run.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { insertQuestion } from "../../../src/store/records/questions/ask.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { patchSession } from "../../../src/store/records/sessions/patch.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { leasedStore } from "../checkpoints/leased-store.ts";
import { agentOptions } from "../exchanger.ts";
import { callsOf } from "./steps.ts";
import { type Config, pendingQuestions, putMessages, startOf } from "./thread.ts";

const WORDS = ["größer", "日本語", "😀👩‍👩‍👧", "a\tb\nc", "'; --", '"{$m:1}"', "\u202eright", "plain"];
const AT_ONCE = 32;
const TASK = "11111111-1111-5111-8111-111111111111";
const USED = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };

export interface Made {
  readonly sessions: number;
  readonly messages: number;
}

/**
 * Fills a store with sessions of every kind, chosen by their number: with sub-agents of sub-agents,
 * archived, pending, summarised, forked and ended ones, with tool calls, with an exchange that was cut and
 * what its tasks wrote, some of them by exchanges of the real agent with the demo model.
 */
export async function makeAllKinds(
  store: Store,
  input: { readonly sessions: number; readonly messages: number },
): Promise<Made> {
  const saver = createCheckpointSaver({ store: leasedStore(store) });
  let next = 0;
  const makeSome = async (): Promise<void> => {
    while (next < input.sessions) {
      next += 1;
      await makeOne({ store, saver, index: next - 1 }, input.messages);
    }
  };
  // side by side they share commits
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  return store.read(async ({ db }) => {
    const { sessions } = await db
      .selectFrom("sessions")
      .select(({ fn }) => fn.countAll<number>().as("sessions"))
      .executeTakeFirstOrThrow();
    const { messages } = await db
      .selectFrom("messages")
      .select(({ fn }) => fn.countAll<number>().as("messages"))
      .executeTakeFirstOrThrow();
    return { sessions, messages };
  }, null);
}

interface Maker {
  readonly store: Store;
  readonly saver: ReturnType<typeof createCheckpointSaver>;
  readonly index: number;
}

async function makeOne(maker: Maker, messages: number): Promise<void> {
  const { store, index } = maker;
  const columns: NewSession = {
    persona_name: index % 3 === 0 ? "planner" : null,
    model: index % 4 === 1 ? "openai:gpt-test" : null,
    repo_path: index % 2 === 0 ? `/home/ada/проект ${index}` : null,
    project_key: index % 2 === 0 ? "0123456789abcdef" : null,
    project_id: index % 4 === 0 ? "fedcba9876543210" : null,
    plan_mode: index % 6 === 2,
    effort: index % 10 === 3 ? "high" : null,
    fallback: index % 10 === 4 ? ["ollama:größer", "demo"] : null,
    cache: index % 4 === 0 ? "1h" : null,
    ...(index % 5 === 2
      ? {
          token_limits: { exchange: 1000 + index, session: 2000, tree: 1 },
          price_limits: { exchange: index + 1, session: 5_000_000, tree: 2 },
        }
      : {}),
    ...(index % 3 === 1
      ? { metadata: { team: WORDS[index % WORDS.length] ?? "", [`k${index}`]: "" } }
      : {}),
  };
  const { id } = await (index % 4 === 3
    ? store.write(createSessionOnce, { ...columns, principal: NOBODY, create_key: `key ${index}` })
    : store.write(createSession, columns));
  if (index % 10 === 0) {
    await realExchanges(store, id);
  } else {
    await talk(maker, { id, messages });
  }
  let parent = id;
  for (let depth = 0; depth < (index % 10 === 5 ? (index / 5) % 4 : 0); depth += 1) {
    const child = await store.write(createSession, {
      parent_session_id: parent,
      parent_call_id: (await callsOf(store, parent))[0] ?? null,
    });
    await talk(maker, { id: child.id, messages: 8 });
    parent = child.id;
  }
  if (index % 4 === 2) {
    await append(maker, { id, text: "waits for the agent", key: `waits-${index}` });
  }
  if (index % 4 === 3) {
    await fromOutside(store, id);
    await countAhead(store, id);
  }
  if (index % 5 === 1) {
    await questions(store, id, index);
  }
  if (index % 5 === 2) {
    await leaveQueued(maker, id);
  }
  if (index % 4 === 1) {
    const name = index % 8 === 1 ? "Größer 😀" : null;
    await store.write(patchSession, {
      reference: id,
      change: {
        name,
        archived: index % 8 === 5,
        pinned: index % 8 === 1,
        ...(index % 8 === 5 ? { metadata: { ticket: `${index}` } } : {}),
      },
      project_key: null,
      principal: NOBODY,
    });
  }
  if (index % 7 === 6) {
    await store.write(endSession, { id });
  }
  if (index % 5 === 4) {
    await planRun(maker);
  }
  if (index % 10 === 8) {
    // a copy of one that shares bodies has more of them
    await store.write(forkSession, { session_id: id, at_seq: 0 });
  }
}

const PHASE_STATES = ["waiting", "approval", "running", "done", "failed", "refused"] as const;

/** A run of a plan, with a phase of each state. */
async function planRun({ store, index }: Maker): Promise<void> {
  const runId = newId();
  const phases = PHASE_STATES.map((state) => ({
    key: `${state}-${index}`,
    title: WORDS[index % WORDS.length] ?? "",
    role: "assistant",
    instructions: `does its part of ${index}`,
  }));
  const { id } = await store.write(createRun, {
    session: { repo_path: `/home/ada/проект ${index}`, model: "openai:gpt-test" },
    run_id: runId,
    plan: JSON.stringify({ runId, phaseKey: "planning", phases }),
    keys: phases.map(({ key }) => key),
    path: index % 2 === 0 ? `größer ${index}.json` : null,
    checks: index % 2 === 0 ? { all: [["npm", "test", `${index}`]] } : null,
    options: { parallel: 1 + (index % 3), retries: index % 2, approve: [`approval-${index}`] },
    request: `Run the plan ${index}.`,
    again: false,
  });
  for (const [at, state] of PHASE_STATES.entries()) {
    const time = (second: number): string => `2026-11-2${at}T09:00:${second}.000Z`;
    const isOver = at > 2;
    const checked = {
      attempt: index + 1,
      corrections: index,
      artifact_hash: String(index).padStart(64, "0"),
      commands: [
        { argv: ["npm", "test"], code: 0, ms: index, failure: null },
        { argv: ["größer"], code: null, ms: index + 1, failure: "SIGKILL ended it" },
      ],
    };
    await store.write(
      ({ db }) =>
        db
          .updateTable("plan_phases")
          .set({
            state,
            attempt: 1 + at + index,
            approved: at,
            artifact_hash: state === "done" ? String(index).padStart(64, "0") : null,
            checked: state === "done" ? JSON.stringify(checked) : null,
            error_code: state === "failed" ? "check_failed" : null,
            error_sentence: state === "failed" ? `größer 😀 ${index}` : null,
            begun_at: at > 1 ? time(10 + (index % 40)) : null,
            ended_at: isOver ? time(11 + (index % 40)) : null,
          })
          .where("session_id", "=", id)
          .where("key", "=", `${state}-${index}`)
          .execute(),
      null,
    );
  }
}

/** Exchanges as the agent stores them, without the agent; the last one may be cut. */
async function talk(
  maker: Maker,
  { id, messages }: { readonly id: string; readonly messages: number },
): Promise<void> {
  const { store, index } = maker;
  let stored = 0;
  let thread = newThread(threadId(id, 0));
  let early: { readonly config: Thread["config"]; readonly length: number } | null = null;
  const middle = Math.floor(messages / 2);
  while (stored < messages) {
    if (
      stored >= middle &&
      stored < middle + 4 &&
      [1, 2].includes(index % 8) &&
      thread.suffix === 0
    ) {
      const { thread_suffix } = await store.write(startThread, { id, archive: index % 8 === 1 });
      thread = newThread(threadId(id, thread_suffix), thread_suffix);
      early = null;
    }
    const isLast = stored + 4 >= messages;
    stored += await oneExchange(maker, { id, thread, stored, cut: isLast && index % 9 === 4 });
    early ??= { config: thread.config, length: thread.messages.length };
  }
  if (index % 13 === 5 && early !== null) {
    // another way from an early answer on: a list on top of the first one
    thread.config = early.config;
    thread.messages.length = early.length;
    await oneExchange(maker, { id, thread, stored, cut: false });
  }
  if (index % 11 === 3) {
    const summary = summaryMessage({
      text: "the messages so far",
      tasks: [],
      files: "AAAAAAAABBBBBBBBBBBBBBBBBBBBBB",
      kept_from: thread.messages.at(-2)?.id ?? "",
      usage: USED,
    });
    const fence = await begin(maker, id, null);
    await put(maker, thread, { id, fence, added: [summary] });
    await store.write(finishExchange, { fence, thread_id: thread.id });
  }
}

interface Thread {
  readonly id: string;
  readonly suffix: number;
  /** The very objects that were put last: the saver then need not look at them again. */
  readonly messages: BaseMessage[];
  config: Config;
  version: number;
}

/** Requests that differ from session to session, one of them without counts and a price. */
function requestsOf(index: number): readonly NumberedCall[] {
  const counted = Object.fromEntries(TOKEN_KINDS.map((kind, at) => [kind, 100 * index + at]));
  const model = `openai:${WORDS[index % WORDS.length]}`;
  const priced = { price_micros: 7 * index, price_table: `2026-11-${index + 10}` };
  return [
    { ...NO_COUNTS, ...counted, ...priced, model, ended: "whole", call: 1 },
    { ...NO_COUNTS, price_micros: null, price_table: null, model, ended: "stopped", call: 2 },
  ].slice(0, 1 + (index % 2)) as readonly NumberedCall[];
}

function newThread(id: string, suffix = 0): Thread {
  return { id, suffix, messages: [], config: startOf(id), version: 0 };
}

async function oneExchange(
  maker: Maker,
  input: {
    readonly id: string;
    readonly thread: Thread;
    readonly stored: number;
    readonly cut: boolean;
  },
): Promise<number> {
  const { store, saver, index } = maker;
  const { id, thread, stored } = input;
  const text = `${WORDS[(index + stored) % WORDS.length]} ${stored} of ${index} ${"x".repeat(100)}`;
  const fence = await begin(maker, id, text);
  const asked = await pendingQuestions(store, id);
  await put(maker, thread, { id, fence, added: asked });
  const call = `call-${index}-${stored}`;
  const calling = new AIMessage({
    id: `calls-${stored}`,
    content: "",
    tool_calls: [{ id: call, name: "read_file", args: { path: "läs mig.md", 7: [1, null, "\0"] } }],
    usage_metadata: USED,
  });
  const result = new ToolMessage({
    id: `result-${stored}`,
    content: text,
    tool_call_id: call,
    status: "success",
  });
  const hasTools = stored % 3 === 1 || input.cut;
  if (hasTools) {
    await put(maker, thread, { id, fence, added: [calling] });
  }
  if (input.cut) {
    // one of two parallel tools is done, and then the power fails
    const held = saver.holding(fence);
    await held.putWrites(thread.config, [["messages", [result]]], TASK, "~tools");
    // the other one is a separate graph that has not finished
    const inside = await held.put(
      { configurable: { thread_id: thread.id, checkpoint_ns: `tools:${TASK}` } },
      { ...emptyCheckpoint(), channel_values: { messages: [calling] } },
      { source: "loop", step: 0, parents: { "": thread.config.configurable?.["checkpoint_id"] } },
      { messages: 1 },
    );
    await held.putWrites(inside, [["notes", "y".repeat(150)]], TASK.replaceAll("1", "2"));
    const failure =
      index % 2 === 0
        ? { code: "model_failed", sentence: "größer 😀", resets_at: "2026-11-28T09:00:00.000Z" }
        : null;
    await store.write(releaseLease, { fence, finished: false, failure });
    return asked.length + 3;
  }
  const answer = new AIMessage({ id: `answer-${stored}`, content: text, usage_metadata: USED });
  await put(maker, thread, { id, fence, added: hasTools ? [result, answer] : [answer] });
  await store.write(storeCallsAlone, { fence, n: stored, calls: requestsOf(index) });
  await store.write(finishExchange, { fence, thread_id: thread.id });
  return asked.length + (hasTools ? 3 : 1);
}

async function begin(maker: Maker, id: string, content: string | null): Promise<Fence> {
  const { store, index } = maker;
  const owner = thisProcess("test");
  const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 30_000 });
  await store.write(beginExchange, {
    fence,
    content,
    model: index % 5 === 2 ? null : "demo:echo",
    persona_name: "assistant",
    asked_by: ASKED_BY[index % ASKED_BY.length] ?? "library",
    parent_n: fence.session.parent_session_id === null ? null : 1,
    agent: index % 8 === 1 ? "billing" : null,
  });
  return fence;
}

async function put(
  { saver }: Maker,
  thread: Thread,
  input: { readonly id: string; readonly fence: Fence; readonly added: readonly BaseMessage[] },
): Promise<void> {
  thread.messages.push(...input.added);
  thread.version += 1;
  thread.config = await putMessages(saver.holding(input.fence), {
    after: thread.config,
    messages: thread.messages,
    version: thread.version,
    others: { "branch:to:tools": thread.version % 2 },
  });
}

async function append(
  { store }: Maker,
  { id, text, key }: { readonly id: string; readonly text: string; readonly key: string },
): Promise<void> {
  await store.write(appendUserMessage, { reference: id, content: text, idempotency_key: key });
}

/** Exchanges that wait for a node, one of them for the second time. */
async function leaveQueued({ store, index }: Maker, id: string): Promise<void> {
  const principal = localPrincipal("prompt", null);
  for (const key of [`first ${index}`, `größer ${index}`]) {
    await store.write(queueExchange, {
      reference: id,
      content: `${WORDS[index % WORDS.length]} queued`,
      asked_by: "http",
      principal,
      idempotency_key: key,
      not_before: index % 2 === 0 ? `2026-12-01T09:00:0${index % 10}.000Z` : null,
    });
  }
  await store.write(
    ({ db }) =>
      db
        .updateTable("exchanges")
        .set({ attempts: 1 + (index % 2), fallback_model: "ollama:größer" })
        .where("session_id", "=", id)
        .where("state", "=", "queued")
        .execute(),
    null,
  );
  // a message of an unknown caller was taken by an exchange
  await store.write(
    ({ db }) =>
      db
        .updateTable("exchanges")
        .set({ authenticated: 0 })
        .where("session_id", "=", id)
        .where("content", "is", null)
        .execute(),
    null,
  );
}

const NOBODY: Principal = GUEST;

/** Messages and changes of callers without authentication, accepted and not, and a chosen session. */
async function fromOutside(store: Store, id: string): Promise<void> {
  const held = { reference: id, content: "from nobody", principal: NOBODY };
  const { message } = await store.write(appendUserMessage, held);
  const change = { id, archive: false, model: "demo" };
  await store.write(startThread, { ...change, principal: NOBODY });
  await store.write(acceptMessages, { session_id: id, through_seq: message.seq });
  await store.write(acceptChoices, { session_id: id, through_change: 1000 });
  await store.write(appendUserMessage, held);
  await store.write(startThread, {
    ...change,
    principal: localPrincipal("terminal", null),
  });
  await store.write(markChosen, { id, by: "prompt" });
}

/** An estimate was higher than what was counted in its place. */
async function countAhead(store: Store, id: string): Promise<void> {
  await store.write(
    ({ db }) =>
      db
        .updateTable("sessions")
        .set((eb) => ({
          total_input_tokens: eb("total_input_tokens", "+", 5),
          input_tokens_ahead: 5,
        }))
        .where("id", "=", id)
        .execute(),
    null,
  );
}

/** Choices of the questions, by their numbers. */
const CHOICES = [null, permissionChoices(["größer(*)"]), offeredChoices(["allow once", "größer"])];
const PERMISSION = {
  tool: "größer",
  subject: "größer 😀",
  rule: "größer",
  layer: "built-in",
  may_last: true,
};

/** Questions in each of their states. */
async function questions(store: Store, id: string, index: number): Promise<void> {
  const asked = (number: number) => ({
    id: newId(),
    call_id: `call-${index}-${number}`,
    number: 1 + (index % 3),
    kind: number === 1 ? ("permission" as const) : ("question" as const),
    text: `${WORDS[(index + number) % WORDS.length]}?`,
    choices: CHOICES[number] ?? null,
    permission: number === 1 ? PERMISSION : null,
    shown_hash: String(number).repeat(64),
    default: number === 0 ? null : { choice: number === 1 ? "deny" : "1", after_ms: 1000 * index },
  });
  const { thread_suffix } = await store.read(readSession, { id });
  await store.write(async (tx) => {
    for (const number of [0, 1, 2]) {
      await insertQuestion(tx, { session_id: id, thread_suffix }, asked(number));
    }
  }, null);
  const answered = index % 2 === 0 ? ({ by: "http", note: null } as const) : null;
  const question = (await store.read(listOpenQuestions, { reference: id })).find(
    ({ kind }) => kind === "permission",
  );
  await store.write(answerQuestion, {
    reference: id,
    question: question?.id ?? "",
    given: { choice: "allow_exchange" },
    note: answered === null ? "größer 😀" : answered.note,
    answered_by: answered?.by ?? "terminal",
  });
  await store.write(
    ({ db }) =>
      db
        .updateTable("questions")
        .set({ state: "withdrawn" })
        .where("session_id", "=", id)
        .where("call_id", "=", `call-${index}-2`)
        .execute(),
    null,
  );
}

/** Two exchanges with the real agent, whose model answers at once. */
async function realExchanges(store: Store, id: string): Promise<void> {
  const exchanger = createExchanger(agentOptions(store));
  const live = { listener: () => undefined, signal: new AbortController().signal };
  // the model and the folder of such a session have to be there
  const session = await store.read(readSession, { id });
  await store.write(
    ({ db }) =>
      db
        .updateTable("sessions")
        .set({ model: null, repo_path: null, project_key: null })
        .where("id", "=", session.id)
        .execute(),
    null,
  );
  for (const text of ["My name is Ada 😀.", "What is my name?"]) {
    await exchanger.exchange({ session_id: id, text }, live);
  }
}
