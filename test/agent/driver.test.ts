import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../src/agent/exchange.ts";
import { createGraphRunner } from "../../src/agent/graph/graph-runner.ts";
import { isRepriseError } from "../../src/core/errors.ts";
import type { ExchangeResult } from "../../src/exchange/events.ts";
import type { Live } from "../../src/exchange/exchanger.ts";
import { readDetail, readPending } from "../../src/store/records/messages/read.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import type { Store } from "../../src/store/store.ts";
import { dyingStore } from "../helpers/dying-store.ts";
import { openBench } from "../helpers/exchanger.ts";
import { startScriptedProvider, text } from "../helpers/scripted-provider.ts";

interface Driven {
  readonly store: Store;
  readonly id: string;
  /** How often the agent was asked for an answer. */
  asked(): number;
  /** One exchange with a message, or null to continue, in whatever session and store. */
  run(
    input: string | null,
    live?: Partial<Live>,
    on?: { readonly id?: string; readonly store?: Store },
  ): Promise<ExchangeResult>;
  /** All rows, as role and text. */
  rows(id?: string): Promise<readonly (readonly [role: string, content: string])[]>;
}

/** An agent that answers "answered" once it may; its first text has arrived by then, if it streams any. */
async function openDriven(
  kind: "the built-in agent" | "a graph",
  mayAnswer: (index: number) => Promise<void> = () => Promise.resolve(),
): Promise<Driven> {
  let asked = 0;
  const provider = await startScriptedProvider("openai", () => {
    asked += 1;
    return [text("answ"), { kind: "wait", until: mayAnswer(asked) }, text("ered")];
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { store, parts, session } = await openBench({ env: () => provider.env });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("say", async () => {
      asked += 1;
      await mayAnswer(asked);
      return { messages: [new AIMessage("answered")] };
    })
    .addEdge(START, "say")
    .compile();
  return {
    store,
    id: session.id,
    asked: () => asked,
    run: (input, live = {}, on = {}) => {
      const request = { session_id: on.id ?? session.id, when_busy: "take_over" } as const;
      const given = { listener: () => undefined, signal: new AbortController().signal, ...live };
      const options = { ...parts, store: on.store ?? store };
      return kind === "a graph"
        ? createGraphRunner(options)({ ...request, agent: { graph }, input }, given)
        : createExchanger(options).exchange({ ...request, text: input }, given);
    },
    rows: async (id = session.id) =>
      (await store.read(readDetail, { reference: id, all: true })).messages.map(
        ({ role, content }) => [role, content] as const,
      ),
  };
}

describe.each(["the built-in agent", "a graph"] as const)("an exchange of %s", (kind) => {
  it("[EXCHANGE-8] [GRAPH-46] that is stopped before it runs does not run, and is continued", async () => {
    const driven = await openDriven(kind);
    const stopped = await driven.run("hi", { signal: AbortSignal.abort() });
    expect(stopped).toMatchObject({ state: "stopped", answer: "" });
    expect(driven.asked()).toBe(0);
    // the agent has not been given it
    expect(await driven.store.read(readPending, { session_id: driven.id })).toHaveLength(1);
    expect(await driven.run(null)).toMatchObject({ state: "done", answer: "answered" });
  });

  it("[EXCHANGE-8] [GRAPH-46] that is stopped once its answer is stored is done", async () => {
    const driven = await openDriven(kind);
    const stop = new AbortController();
    const result = await driven.run("hi", {
      signal: stop.signal,
      listener: (event) => {
        if (event.type === "message" && event.role === "assistant") {
          stop.abort();
        }
      },
    });
    expect(result).toMatchObject({ state: "done", answer: "answered" });
  });

  it.each([true, false])(
    "[LEASE-1] that has lost its lease stores nothing more and fails (stopped: %s)",
    async (isStopped) => {
      const begun = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const driven = await openDriven(kind, async (index) => {
        begun.resolve();
        await (index === 1 ? released.promise : null);
      });
      const stop = new AbortController();
      const first = driven.run("first", { signal: stop.signal });
      first.catch(() => undefined);
      await begun.promise;
      await driven.run("second");
      const stored = await driven.rows();
      expect(stored).toEqual([
        ["user", "first"],
        ["user", "second"],
        ["assistant", "answered"],
      ]);
      if (isStopped) {
        stop.abort();
      }
      released.resolve();
      await expect(first).rejects.toMatchObject({ code: "lease_lost" });
      expect(await driven.rows()).toEqual(stored);
    },
  );

  it("[EXCHANGE-40] [GRAPH-18] whose process dies at any of its writes is answered once it is continued", async () => {
    const driven = await openDriven(kind);
    let writes = 0;
    for (let at = 1; at === writes + 1; at += 1) {
      for (const when of ["before", "after"] as const) {
        const { id } = await driven.store.write(createSession, {});
        const dying = dyingStore(driven.store, at, when);
        const run = driven.run("hi", {}, { id, store: dying.store }).then(() => null);
        const isDead = (await Promise.race([run, dying.dead.then(() => true)])) === true;
        writes = isDead ? at : writes;
        const isStored = (await driven.rows(id)).length > 0;
        const state = await driven.run(null, {}, { id }).then(
          (result) => result.state,
          (error: unknown) => (isRepriseError(error) ? error.code : null),
        );
        dying.bury();
        await run.catch(() => undefined);
        const rows = [
          ["user", "hi"],
          ["assistant", "answered"],
        ];
        const label = `${when} write ${at}: ${state}`;
        expect(await driven.rows(id), label).toEqual(isStored ? rows : []);
        expect(
          isStored ? ["done", "nothing_to_continue"] : ["nothing_to_continue"],
          label,
        ).toContain(state);
      }
    }
    expect(writes).toBeGreaterThan(3);
  });
});
