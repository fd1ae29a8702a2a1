import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  entrypoint,
  getPreviousState,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { describe, expect } from "vitest";

import { itBehavesTheSame } from "../../helpers/checkpoints/same-behaviour.ts";

const ask = (content: string, id?: string) => ({
  messages: [new HumanMessage({ content, ...(id === undefined ? {} : { id }) })],
});
const say = (content: string, id?: string) => new AIMessage({ content, ...(id && { id }) });

const STATE = Annotation.Root({
  ...MessagesAnnotation.spec,
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

describe("[SAVER-40] graphs of every shape", () => {
  itBehavesTheSame(
    "interrupts side by side, resumed by their ids and in any order",
    async (run) => {
      const asking = (name: string) => () => {
        const first: unknown = interrupt({ name, question: "first?" });
        const second: unknown = interrupt({ name, question: "second?" });
        return { log: [`${name}: ${String(first)}, ${String(second)}`] };
      };
      const graph = new StateGraph(STATE)
        .addNode("a", asking("a"))
        .addNode("b", asking("b"))
        .addNode("quick", () => ({ log: ["quick"] }))
        .addNode("after", ({ log }) => ({ messages: [say(log.join("; "))] }))
        .addEdge(START, "a")
        .addEdge(START, "b")
        .addEdge(START, "quick")
        .addEdge(["a", "b", "quick"], "after")
        .compile({ checkpointer: run.saver });
      await run.send(graph, ask("go"));
      const idOf = async (name: string): Promise<string> => {
        const { tasks } = await run.state(graph);
        return tasks.find((task) => task.name === name)?.interrupts.at(-1)?.id ?? "";
      };
      await run.send(graph, new Command({ resume: { [await idOf("b")]: "b1" } }));
      const both = { [await idOf("a")]: "a1", [await idOf("b")]: "b2" };
      await run.send(graph, new Command({ resume: both }));
      await run.send(graph, new Command({ resume: "a2", update: { log: ["update"] } }));
      const { values, next } = await run.state(graph);
      expect(next).toEqual([]);
      expect(values).toMatchObject({ log: ["update", "a: a1, a2", "b: b1, b2", "quick"] });
      await run.history(graph);
    },
  );

  itBehavesTheSame("Command with goto, to several nodes and to the parent graph", async (run) => {
    const inner = new StateGraph(STATE)
      .addNode("leave", () => {
        return new Command({
          goto: "other",
          update: { log: ["left"] },
          graph: Command.PARENT,
        });
      })
      .addEdge(START, "leave")
      .compile();
    const graph = new StateGraph(STATE)
      .addNode(
        "choose",
        () => new Command({ goto: ["inner", "beside"], update: { log: ["chose"] } }),
        {
          ends: ["inner", "beside"],
        },
      )
      .addNode("inner", inner, { ends: ["other"] })
      .addNode("beside", () => ({ log: ["beside"] }))
      .addNode("other", ({ log }) => ({ messages: [say(`after ${log.length}`)] }))
      .addEdge(START, "choose")
      .addEdge("other", END)
      .compile({ checkpointer: run.saver });
    await run.send(graph, ask("one"));
    await run.send(graph, new Command({ goto: "beside", update: ask("two", "q2") }));
    await run.state(graph);
    await run.history(graph);
  });

  itBehavesTheSame("subgraphs, nested, some of which remember", async (run) => {
    const counting = (name: string) =>
      new StateGraph(STATE)
        .addNode(name, ({ log }) => {
          const answer: unknown = log.length % 2 === 0 ? interrupt(`${name}?`) : "none";
          return { log: [`${name} ${String(answer)} after ${log.length}`] };
        })
        .addEdge(START, name);
    const middle = (name: string, inner: ReturnType<ReturnType<typeof counting>["compile"]>) =>
      new StateGraph(STATE).addNode(name, inner).addEdge(START, name);
    const remembers = middle("remembers", counting("kept").compile()).compile({
      checkpointer: true,
    });
    const forgets = middle("forgets", counting("new").compile()).compile();
    const alone = new StateGraph(STATE)
      .addNode("alone", ({ log }) => ({ log: [`alone after ${log.length}`] }))
      .addEdge(START, "alone")
      .compile({ checkpointer: false });
    const graph = new StateGraph(STATE)
      .addNode("first", remembers)
      .addNode("second", forgets)
      .addNode("third", alone)
      .addEdge(START, "first")
      .addEdge("first", "second")
      .addEdge("second", "third")
      .compile({ checkpointer: run.saver });
    for (const text of ["one", "two"]) {
      await run.send(graph, ask(text));
      for (let state = await run.state(graph); state.next.length > 0;) {
        await run.send(graph, new Command({ resume: `resumed ${text}` }));
        state = await run.state(graph);
      }
    }
    await run.history(graph);
  });

  itBehavesTheSame("the state of a waiting subgraph is changed", async (run) => {
    const inner = new StateGraph(STATE)
      .addNode("deep", ({ log }) => ({
        log: [`${String(interrupt("deep?"))} after ${log.length}`],
      }))
      .addNode("end", ({ log }) => ({ messages: [say(log.join())] }))
      .addEdge(START, "deep")
      .addEdge("deep", "end")
      .compile();
    const graph = new StateGraph(STATE)
      .addNode("inner", inner)
      .addEdge(START, "inner")
      .compile({ checkpointer: run.saver });
    await run.send(graph, ask("one"));
    const { tasks } = await run.state(graph);
    const inside = tasks[0]?.state as { readonly config: object };
    await graph.updateState(inside.config, { log: ["from outside"] });
    await run.state(graph);
    await run.send(graph, new Command({ resume: "yes" }));
    const { values } = await run.state(graph);
    expect(values).toMatchObject({ log: ["from outside", "yes after 1"] });
    await run.history(graph);
  });

  itBehavesTheSame("30 tasks side by side, of which one fails and is run again", async (run) => {
    const runs = new Map<number, number>();
    let isBroken = true;
    const graph = new StateGraph(STATE)
      .addNode("plan", () => ({}))
      .addNode("work", ({ index }: { index: number }) => {
        runs.set(index, (runs.get(index) ?? 0) + 1);
        if (index === 17 && isBroken) {
          throw new Error("task 17 is broken");
        }
        return { log: [`${index}`], messages: [say(`did ${index}`, `w${index}`)] };
      })
      .addNode("report", ({ log }) => ({ messages: [say(log.join(), "report")] }))
      .addEdge(START, "plan")
      .addConditionalEdges(
        "plan",
        ({ messages }) =>
          Array.from({ length: 30 }, (_, index) => new Send("work", { index, messages })),
        ["work"],
      )
      .addEdge("work", "report")
      .compile({ checkpointer: run.saver });
    await run.fail(graph, ask("go", "go"));
    await run.state(graph);
    isBroken = false;
    await run.send(graph, null);
    const counts = Array.from({ length: 30 }, (_, index) => runs.get(index));
    // nothing of a failed step is stored before it ends with `exit`
    expect(counts).toEqual(counts.map((_, index) => (index === 17 ? 2 : 1)));
    await run.history(graph);
  });

  itBehavesTheSame(
    "the functional API, with tasks, an interrupt and its previous value",
    async (run) => {
      let calls = 0;
      const double = task("double", (value: number) => {
        calls += 1;
        return value * 2;
      });
      const slow = task("slow", async (value: number) => {
        await Promise.resolve();
        return { value, message: say(`slow ${value}`, `slow ${value}`) };
      });
      const graph = entrypoint({ checkpointer: run.saver, name: "sum" }, async (input: number) => {
        const previous = getPreviousState<number>() ?? 0;
        const doubled = await Promise.all([double(input), double(input + 1)]);
        const { message } = await slow(input);
        const answer: unknown = interrupt({ doubled, message });
        const total = previous + doubled[0] + doubled[1];
        return entrypoint.final({ value: `${total} ${String(answer)}`, save: total });
      });
      for (const [index, input] of [1, 5].entries()) {
        await run.send(graph, input);
        await run.state(graph);
        await run.send(graph, new Command({ resume: `answer ${index}` }));
      }
      // the tasks that were done before the interrupt did not run again
      expect(calls).toBe(4);
      await run.history(graph);
    },
  );
});
