import { join } from "node:path";

import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished } from "vitest";

import { RepriseSaver } from "../../../src/entries/langgraph.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { type CopyReport, copyStore } from "../../../src/store/portable/copy-store.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { readKept } from "../../helpers/checkpoints/kept.ts";
import { describeEngines, execute, openFresh } from "../../helpers/engines.ts";
import { putMessages, startOf } from "../../helpers/sessions/thread.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

async function openFile(): Promise<Store> {
  const store = await openSqliteStore({ path: join(temporaryFolder(), "source.db") });
  onTestFinished(() => store.close());
  return store;
}

function copy(
  source: Store,
  target: Store,
  { intoExisting = false, onProgress = (): void => undefined } = {},
): Promise<CopyReport> {
  return copyStore({ source, target, intoExisting, onProgress });
}

const config = (thread_id: string) => ({
  configurable: { thread_id },
  durability: "sync" as const,
});

function askingGraph(store: Store) {
  return new StateGraph(MessagesAnnotation)
    .addNode("ask", ({ messages }) => ({
      messages: [new AIMessage(`${messages.length}: ${String(interrupt("which?"))}`)],
    }))
    .addEdge(START, "ask")
    .compile({ checkpointer: RepriseSaver.from(store) });
}

async function ask(store: Store, thread_id: string): Promise<void> {
  await askingGraph(store).invoke({ messages: [new HumanMessage("question")] }, config(thread_id));
}

async function tuplesOf(store: Store): Promise<unknown> {
  const tuples = await Array.fromAsync(createCheckpointSaver({ store }).list({}));
  return JSON.parse(JSON.stringify(tuples));
}

describeEngines("copying threads without a session", (engine) => {
  it("[COPY-15] copies them whole, so that an interrupted one continues there", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    const ids = ["one", "00000000-0000-4000-8000-000000000000:0", "ü 'quoted'\u202e"];
    for (const id of ids) {
      await ask(source, id);
      await askingGraph(source).invoke(new Command({ resume: "a" }), config(id));
      await ask(source, id);
    }
    await RepriseSaver.from(source).prune("one");
    const report = await copy(source, target);
    expect(report).toMatchObject({
      copied: { sessions: 0, threads: 3 },
      refused_threads: [],
      changed_threads: [],
      unowned_threads: 0,
    });
    expect(await tuplesOf(target)).toEqual(await tuplesOf(source));
    expect((await target.read(readKept, null)).dangling).toEqual([]);
    expect(await copy(source, target)).toMatchObject({
      copied: { threads: 0 },
      present: { threads: 3, checkpoints: report.copied.checkpoints },
    });
    const { messages } = await askingGraph(target).invoke(
      new Command({ resume: "b" }),
      config("one"),
    );
    expect(messages.map(({ text }) => text)).toEqual(["question", "1: a", "question", "3: b"]);
  });

  it("[COPY-16] continues a copy that was broken off, and keeps what the target has of the same id", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    for (const id of ["one", "two", "three"]) {
      await ask(source, id);
    }
    const stop = new Error("stop");
    const onProgress = (): void => {
      throw stop;
    };
    await expect(copy(source, target, { onProgress })).rejects.toThrow(stop);
    await askingGraph(target).invoke(new Command({ resume: "here" }), config("one"));
    const later = await RepriseSaver.from(target).stats("one");
    expect(await copy(source, target)).toMatchObject({
      copied: { threads: 2 },
      refused_threads: [{ thread_id: "one", code: "thread_exists" }],
      unowned_threads: 1,
    });
    expect(await RepriseSaver.from(target).stats("one")).toEqual(later);
  });

  it("[COPY-17] refuses a target with a thread that the source does not have", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    await ask(source, "one");
    await ask(target, "other");
    await expect(copy(source, target)).rejects.toMatchObject({ code: "invalid_usage" });
    await copy(source, target, { intoExisting: true });
    const { threads } = await RepriseSaver.from(target).threads();
    expect(threads.map(({ thread_id }) => thread_id)).toEqual(["one", "other"]);
  });

  it("[COPY-18] reports threads that were begun or changed during the copy", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    await ask(source, "one");
    await ask(source, "two");
    const writing: Promise<unknown>[] = [];
    const onProgress = (): void => {
      if (writing.length === 0) {
        writing.push(askingGraph(source).invoke(new Command({ resume: "a" }), config("one")));
        writing.push(
          putMessages(RepriseSaver.from(source), {
            after: startOf("begun"),
            messages: [],
            version: 1,
          }),
        );
      }
    };
    const read = source.read.bind(source);
    const waiting: Store = {
      ...source,
      read: async (operation, input) => {
        await Promise.all(writing);
        return read(operation, input);
      },
    };
    const { changed_threads } = await copy(waiting, target, { onProgress });
    expect(changed_threads).toContain("one");
    expect(changed_threads).not.toContain("two");
  });

  it("[COPY-19] reports a thread that cannot be read, or that a session owns in the target", async () => {
    const [source, target] = [await openFile(), await openFresh(engine)];
    const { id } = await target.write(createSession, {});
    for (const thread_id of ["damaged", `${id}:0`, "whole"]) {
      await ask(source, thread_id);
    }
    const damaged = "SELECT id FROM threads WHERE thread_id = 'damaged'";
    await execute(source, `DELETE FROM checkpoint_bodies WHERE thread IN (${damaged})`);
    expect(await copy(source, target, { intoExisting: true })).toMatchObject({
      copied: { threads: 1 },
      refused_threads: [
        { thread_id: "damaged", code: "database_corrupt" },
        { thread_id: `${id}:0`, code: "thread_of_session" },
      ],
    });
  });
});
