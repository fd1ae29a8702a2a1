import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  interrupt,
  MessagesAnnotation,
  messagesStateReducer,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { createAgent, createMiddleware } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";

import type { RunnableGraph } from "../../../src/library/open-reprise.ts";
import { RepriseSaver } from "../../../src/langgraph/reprise-saver.ts";
import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { readFailures } from "../../../src/store/records/sessions/failures.ts";
import { ProgramModel } from "../../helpers/checkpoints/program-model.ts";
import { answerRepeat } from "../../helpers/answer-repeat.ts";
import { describeEngine, type Engine } from "../../helpers/engines.ts";
import { openOn } from "../../helpers/graphs.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { expectVerified } from "../../helpers/verified.ts";

const schema = z.object({});

/** What runs, in order. Whatever is named `pay` never ends while `isStuck`. */
function world() {
  const runs: string[] = [];
  const state = { isStuck: true, started: Promise.withResolvers<void>() };
  const pay = async () => {
    runs.push("pay");
    state.started.resolve();
    await (state.isStuck ? new Promise(() => {}) : null);
    return "paid";
  };
  const look = () => {
    runs.push("look");
    return "seen";
  };
  const ask = () => `said ${String(interrupt("Sure?"))}`;
  const tools = Object.entries({ pay, look, ask }).map(([name, run]) =>
    tool(run, { name, description: name, schema }),
  );
  return { runs, state, pay, tools };
}

type World = ReturnType<typeof world>;

type Call = readonly [id: string | undefined, name: string];

const calling = (...calls: readonly Call[]) =>
  new AIMessage({
    content: "",
    tool_calls: calls.map(([id, name]) => ({
      name,
      args: {},
      ...(id === undefined ? {} : { id }),
    })),
  });

/** Calls the tools once for each message of the user, then answers with the last result. */
const modelOf = (...calls: readonly Call[]) =>
  new ProgramModel((messages) => {
    const asked = messages.findLastIndex(({ text }) => text.startsWith("go"));
    const result = messages.slice(asked).findLast(({ type }) => type === "tool");
    return result === undefined ? calling(...calls) : new AIMessage(`done: ${result.text}`);
  });

/** Runs the graph until it pays and has stored so many messages of other tasks, and stops it. */
async function stopped(engine: Engine, { state }: World, graph: RunnableGraph, results = 0) {
  const opened = await openOn(engine);
  const stop = new AbortController();
  const running = opened.reprise.run(opened.id, graph, "go", { signal: stop.signal });
  await state.started.promise;
  await using saver = new RepriseSaver(opened.location);
  await expect
    .poll(async () => {
      const tuple = await saver.getTuple({ configurable: { thread_id: `${opened.id}:0` } });
      return tuple?.pendingWrites?.filter(([, channel]) => channel === "messages").length;
    })
    .toBe(results);
  stop.abort();
  expect(await running).toMatchObject({ state: "stopped" });
  state.isStuck = false;
  return opened;
}

const closed = { answer: `done: ${OUTCOME_UNKNOWN}` };
const refused = { code: "exchange_interrupted" };

const Inner = Annotation.Root({
  ...MessagesAnnotation.spec,
  inner: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
});

/** Graphs whose open call is not at the end of `messages`, and how the exchange ends after a no. */
const ELSEWHERE: Readonly<Record<string, readonly [(w: World) => RunnableGraph, object]>> = {
  "a note of a middleware comes after the calls": [
    ({ tools }) =>
      createAgent({
        model: modelOf(["c1", "pay"]),
        tools,
        middleware: [
          createMiddleware({
            name: "note",
            afterModel: ({ messages }) =>
              (messages.at(-1) as AIMessage).tool_calls?.length
                ? { messages: [new HumanMessage("3 calls left")] }
                : undefined,
          }),
        ],
      }),
    closed,
  ],
  "a node's own code runs the call after a note": [
    ({ pay }) =>
      new StateGraph(MessagesAnnotation)
        .addNode("think", () => ({ messages: [calling(["c1", "pay"])] }))
        .addNode("note", () => ({ messages: [new AIMessage("I pay now.")] }))
        .addNode("act", async () => ({
          messages: [new ToolMessage({ tool_call_id: "c1", content: await pay() })],
        }))
        .addNode("end", ({ messages }) => ({
          messages: [new AIMessage(`done: ${messages.at(-1)?.text}`)],
        }))
        .addEdge(START, "think")
        .addEdge("think", "note")
        .addEdge("note", "act")
        .addEdge("act", "end")
        .compile(),
    closed,
  ],
  "the calls are in another channel": [({ tools }) => ownChannel(new ToolNode(tools)), refused],
  "a node's own code runs calls of another channel": [({ pay }) => ownChannel(pay), refused],
  "a subgraph's node runs the call": [
    ({ pay }) =>
      new StateGraph(MessagesAnnotation)
        .addNode("sub", paying(pay))
        .addEdge(START, "sub")
        .compile(),
    refused,
  ],
  "a node of a graph that a node runs runs the call": [
    ({ pay }) =>
      new StateGraph(MessagesAnnotation)
        .addNode("sub", async (state) => paying(pay).invoke(state))
        .addEdge(START, "sub")
        .compile(),
    refused,
  ],
  "a node calls a tool that no model called": [
    ({ tools: [pay] }) =>
      new StateGraph(MessagesAnnotation)
        .addNode("act", async () => ({ messages: [new AIMessage(String(await pay?.invoke({})))] }))
        .addEdge(START, "act")
        .compile(),
    refused,
  ],
};

function paying(pay: () => Promise<string>) {
  return new StateGraph(MessagesAnnotation)
    .addNode("think", () => ({ messages: [calling(["c1", "pay"])] }))
    .addNode("act", async () => ({
      messages: [new ToolMessage({ tool_call_id: "c1", content: await pay() })],
    }))
    .addEdge(START, "think")
    .addEdge("think", "act")
    .compile();
}

function ownChannel(acts: ToolNode | (() => Promise<string>)) {
  return new StateGraph(Inner)
    .addNode("think", () => ({ inner: [calling(["c1", "pay"])] }))
    .addNode("act", async ({ inner }) => ({
      inner:
        typeof acts === "function"
          ? [new ToolMessage({ tool_call_id: "c1", content: await acts() })]
          : ((await acts.invoke({ messages: inner })) as { messages: BaseMessage[] }).messages,
    }))
    .addNode("say", () => ({ messages: [new AIMessage("said")] }))
    .addEdge(START, "think")
    .addEdge("think", "act")
    .addEdge("act", "say")
    .compile();
}

const ASK = { repeats: "ask" } as const;

describeEngine("a stopped graph", (engine) => {
  it.each(Object.entries(ELSEWHERE))(
    "[GRAPH-27] [GRAPH-26] repeats no unsafe call without a yes if %s",
    async (_, [make, end]) => {
      const w = world();
      const { location, reprise, id } = await stopped(engine, w, make(w));
      const waiting = await reprise.run(id, make(w), null, ASK);
      expect([waiting.state, waiting.interrupts]).toEqual(["waiting", []]);
      expect(await answerRepeat(location, id, "skip")).toEqual(["pay"]);
      const run = reprise.run(id, make(w), null, ASK);
      expect(await run.catch((error: unknown) => error)).toMatchObject(end);
      expect(w.runs).toEqual(["pay"]);
      expect(await reprise.run(id, make(w), "go on")).toMatchObject({ state: "done" });
      await expectVerified(location, id);
    },
  );

  it.each([
    ["call_0", "call_0"],
    ["", ""],
    [undefined, undefined],
  ])("[GRAPH-28] closes one call with each result if their ids are %s and %s", async (one, two) => {
    for (const make of [
      ({ tools }: World) =>
        createReactAgent({ llm: modelOf([one, "look"], [two, "pay"]), tools, version: "v2" }),
      ({ tools }: World) => createAgent({ model: modelOf([one, "look"], [two, "pay"]), tools }),
    ]) {
      const w = world();
      const { location, reprise, id } = await stopped(engine, w, make(w), 1);
      await expect(reprise.run(id, make(w), null)).resolves.toMatchObject(closed);
      expect(w.runs).toEqual(["look", "pay"]);
      const { messages } = await reprise.sessions.get(id);
      expect(messages.slice(2, 4).map(({ content }) => content)).toEqual(["seen", OUTCOME_UNKNOWN]);
      await expectVerified(location, id);
    }
  });

  it("[GRAPH-28] gives each call one result before a new message, whatever their ids", async () => {
    const w = world();
    const graph = createAgent({ model: modelOf(["x", "look"], ["x", "pay"]), tools: w.tools });
    const { reprise, id } = await stopped(engine, w, graph, 1);
    const { messages } = await reprise.run(id, graph, "never mind");
    expect(messages.slice(0, 2).map(({ content }) => content)).toEqual(["seen", OUTCOME_UNKNOWN]);
  });

  it("[GRAPH-30] leaves a question open if it is continued without an answer, and runs nothing", async () => {
    const { location, reprise, id } = await openOn(engine);
    let runs = 0;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", () => {
        runs += 1;
        return { messages: [new AIMessage(String(interrupt("Sure?")))] };
      })
      .addEdge(START, "ask")
      .compile();
    const asked = await reprise.run(id, graph, "go");
    const again = await reprise.run(id, graph, null);
    expect([again.state, again.interrupts]).toEqual(["waiting", asked.interrupts]);
    expect(runs).toBe(1);
    const [question] = asked.interrupts;
    const answer = new Command({ resume: { [question?.id ?? ""]: "yes" } });
    expect(await reprise.run(id, graph, answer)).toMatchObject({ answer: "yes" });
    await expectVerified(location, id);
  });

  it("[GRAPH-29] asks again if a task has more than one question, and after a stop continues with the last answer", async () => {
    const w = world();
    const { location, reprise, id } = await openOn(engine);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", async () => {
        const answers = [interrupt("One?"), interrupt("Two?")];
        await w.pay();
        return { messages: [new AIMessage(answers.join())] };
      })
      .addEdge(START, "ask")
      .compile();
    expect(await reprise.run(id, graph, "go")).toMatchObject({ interrupts: [{ value: "One?" }] });
    const one = new Command({ resume: "1" });
    expect(await reprise.run(id, graph, one)).toMatchObject({ interrupts: [{ value: "Two?" }] });
    expect(await reprise.run(id, graph, null)).toMatchObject({ interrupts: [{ value: "Two?" }] });
    const stop = new AbortController();
    const two = new Command({ resume: "2" });
    const running = reprise.run(id, graph, two, { signal: stop.signal });
    await w.state.started.promise;
    stop.abort();
    await running;
    w.state.isStuck = false;
    expect(await reprise.run(id, graph, null)).toMatchObject({ state: "done", answer: "1,2" });
    await expectVerified(location, id);
  });

  it.each(["answer", "new message"])(
    "[GRAPH-31] [EXCHANGE-32] runs what took effect beside a question in the same task only with a yes: %s",
    async (next) => {
      const { location, reprise, id } = await openOn(engine);
      const w = world();
      w.state.isStuck = false;
      const graph = createReactAgent({
        llm: modelOf(["a", "pay"], ["b", "ask"]),
        tools: w.tools,
        version: "v1",
      });
      expect(await reprise.run(id, graph, "go")).toMatchObject({ state: "waiting" });
      const answer = new Command({ resume: "yes" });
      await expect(reprise.run(id, graph, answer)).rejects.toMatchObject(refused);
      expect(await reprise.run(id, graph, null)).toMatchObject({ state: "waiting" });
      expect(w.runs).toEqual(["pay"]);
      await using store = await openStoreAt(location);
      expect(await store.read(readFailures, { ids: [id] })).toEqual(new Map());
      if (next === "answer") {
        expect(await reprise.run(id, graph, answer, ASK)).toMatchObject({ state: "waiting" });
        expect(w.runs).toEqual(["pay"]);
        expect(await answerRepeat(location, id, "again")).toEqual(["pay"]);
        expect(await reprise.run(id, graph, answer, ASK)).toMatchObject({ state: "done" });
      } else {
        const { messages } = await reprise.run(id, graph, "never mind");
        expect(messages.slice(0, 2).map(({ content }) => content)).toEqual([
          OUTCOME_UNKNOWN,
          OUTCOME_UNKNOWN,
        ]);
      }
      await expectVerified(location, id);
    },
  );

  it("[GRAPH-32] needs no yes for tools that did not begin beside a question", async () => {
    const { location, reprise, id } = await openOn(engine);
    const w = world();
    w.state.isStuck = false;
    const acts = new ToolNode(w.tools);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("think", () => ({ messages: [calling(["a", "pay"], ["b", "look"])] }))
      .addNode("approve", () => {
        interrupt("Both?");
        return {};
      })
      .addNode("act", async (state) => acts.invoke(state))
      .addEdge(START, "think")
      .addEdge("think", "approve")
      .addEdge("approve", "act")
      .compile();
    await reprise.run(id, graph, "go");
    const answer = new Command({ resume: "yes" });
    expect(await reprise.run(id, graph, answer)).toMatchObject({ state: "done" });
    expect(w.runs).toEqual(["pay", "look"]);
    await expectVerified(location, id);
  });

  it("[GRAPH-33] continues without a question after a stop in a model's call, whatever an earlier exchange left open", async () => {
    const w = world();
    const { location, reprise, id } = await openOn(engine);
    const graph = new StateGraph(Inner)
      .addNode("say", async ({ messages }) => {
        const isFirst = messages.length === 1;
        await (isFirst ? null : w.pay());
        const left = calling(["page", "click"]);
        return isFirst ? { messages: [left], inner: [left] } : { messages: [new AIMessage("ok")] };
      })
      .addEdge(START, "say")
      .compile();
    await reprise.run(id, graph, "go");
    const stop = new AbortController();
    const running = reprise.run(id, graph, "never mind", { signal: stop.signal });
    await w.state.started.promise;
    stop.abort();
    await running;
    w.state.isStuck = false;
    expect(await reprise.run(id, graph, null)).toMatchObject({ state: "done", answer: "ok" });
    await expectVerified(location, id);
  });

  it("[GRAPH-50] names each call that would run again, and asks again once they have begun another time", async () => {
    const w = world();
    const many = () =>
      new StateGraph(MessagesAnnotation)
        .addNode("act", async () => {
          const [pay] = w.tools;
          const paid = await Promise.all([1, 2, 3].map(async () => String(await pay?.invoke({}))));
          return { messages: [new AIMessage(paid.join())] };
        })
        .addEdge(START, "act")
        .compile();
    const { location, reprise, id } = await openOn(engine);
    const stopWhenPaid = async (input: string | null) => {
      w.state.isStuck = true;
      const stop = new AbortController();
      const before = w.runs.length;
      const running = reprise.run(id, many(), input, { signal: stop.signal, ...ASK });
      await expect.poll(() => w.runs.length).toBe(before + 3);
      stop.abort();
      await running;
    };
    await stopWhenPaid("go");
    expect(await reprise.run(id, many(), null, ASK)).toMatchObject({ state: "waiting" });
    // nothing runs and nothing more is asked before the answer
    expect(await reprise.run(id, many(), null, ASK)).toMatchObject({ state: "waiting" });
    expect(w.runs).toHaveLength(3);
    expect(await answerRepeat(location, id, "again")).toEqual(["pay", "pay", "pay"]);
    await stopWhenPaid(null);
    w.state.isStuck = false;
    expect(await reprise.run(id, many(), null, ASK)).toMatchObject({ state: "waiting" });
    expect(w.runs).toHaveLength(6);
    await using store = await openStoreAt(location);
    expect((await store.read(readFailures, { ids: [id] })).size).toBe(0);
    const always = { repeats: "always" } as const;
    expect(await reprise.run(id, many(), null, always)).toMatchObject({ answer: "paid,paid,paid" });
  });

  it("[GRAPH-50] a yes counts for no call of a later step, also if it is called alike and without an id", async () => {
    const w = world();
    const { location, reprise, id } = await openOn(engine);
    const pays = async () => {
      // the second run ends, and the third one hangs
      w.state.isStuck = w.runs.length !== 1;
      return { messages: [new AIMessage(String(await w.tools[0]?.invoke({})))] };
    };
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("first", pays)
      .addNode("second", pays)
      .addEdge(START, "first")
      .addEdge("first", "second")
      .compile();
    const stopAt = async (input: string | null, runs: number) => {
      const stop = new AbortController();
      const running = reprise.run(id, graph, input, { signal: stop.signal, ...ASK });
      await expect.poll(() => w.runs.length).toBe(runs);
      stop.abort();
      await running;
    };
    await stopAt("go", 1);
    expect(await reprise.run(id, graph, null, ASK)).toMatchObject({ state: "waiting" });
    await answerRepeat(location, id, "again");
    await stopAt(null, 3);
    expect(await reprise.run(id, graph, null, ASK)).toMatchObject({ state: "waiting" });
    expect(w.runs).toHaveLength(3);
  });
});
