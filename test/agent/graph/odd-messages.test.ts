import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
} from "@langchain/core/messages";
import {
  Annotation,
  MessagesAnnotation,
  REMOVE_ALL_MESSAGES,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { expect, it } from "vitest";

import type { RunnableGraph } from "../../../src/library/open-reprise.ts";
import { importTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { describeEngine, execute } from "../../helpers/engines.ts";
import { openOn } from "../../helpers/graphs.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { repair } from "../../helpers/sessions/repair.ts";
import { expectVerified } from "../../helpers/verified.ts";

/** A list to which messages are added, whatever their ids are. */
const Appended = Annotation.Root({
  messages: Annotation<BaseMessage[], BaseMessage[]>({
    reducer: (before, more) => [...before, ...more],
    default: () => [],
  }),
});

/** No list: what is written takes the place of what was there. */
const Latest = Annotation.Root({ messages: Annotation<unknown>() });

/** A graph whose nodes write these messages, one after the other. */
function writing(...steps: readonly BaseMessage[][]) {
  return chain(steps, MessagesAnnotation) as RunnableGraph;
}

function chain(steps: readonly unknown[], State: typeof MessagesAnnotation) {
  const names = steps.map((_, index) => `step ${index}`);
  const nodes = steps.map((messages, index) => [`step ${index}`, () => ({ messages })] as const);
  return new StateGraph(State)
    .addSequence(nodes as never)
    .addEdge(START, names[0] as never)
    .compile();
}

const appending = (...messages: BaseMessage[]) => chain([messages], Appended);
const human = (id: string, content: string) => new HumanMessage({ id, content });
const ai = (id: string, content: string) => new AIMessage({ id, content });
const counted = (id: string, content: string) =>
  new AIMessage({
    id,
    content,
    usage_metadata: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
  });
const removeAll = () => new RemoveMessage({ id: REMOVE_ALL_MESSAGES });

/** A graph of one node, which writes what is made of all messages. */
function changing(change: (messages: readonly BaseMessage[]) => readonly BaseMessage[]) {
  return new StateGraph(MessagesAnnotation)
    .addNode("change", ({ messages }) => ({ messages: [...change(messages)] }))
    .addEdge(START, "change")
    .compile() as RunnableGraph;
}

/** A graph that answers, and writes all messages again in another order, or with more between them. */
function rearranging(change: (messages: readonly BaseMessage[]) => readonly BaseMessage[]) {
  return changing((messages) => [removeAll(), ...change(messages)]);
}

const ok = () => new AIMessage("ok");
const system = (content: string, id?: string) => new SystemMessage({ content, ...(id && { id }) });
const isSystem = (message: BaseMessage) => message.type === "system";
const isMemo = ({ id }: BaseMessage) => id === "memo";

/** What graphs do to the order, given the messages before. */
const REARRANGED: Readonly<Record<string, readonly [graph: RunnableGraph, rows: string[]]>> = {
  "a system message renewed in front": [
    rearranging((all) => [system("now"), ...all.filter((one) => !isSystem(one)), ok()]),
    ["one", "now", "ok", "two", "now", "ok", "three", "now", "ok"],
  ],
  "a pinned message moved to the end": [
    rearranging((all) => [...all.filter((one) => !isMemo(one)), ok(), system("pin", "memo")]),
    ["one", "ok", "pin", "two", "ok", "three", "ok"],
  ],
  "examples inserted before the question": [
    rearranging((all) => [
      ...all.slice(0, -1),
      new HumanMessage("2+2?"),
      new AIMessage("4"),
      ...all.slice(-1),
      ok(),
    ]),
    ["one", "2+2?", "4", "ok", "two", "2+2?", "4", "ok", "three", "2+2?", "4", "ok"],
  ],
  "a memo removed and added again": [
    changing((all) => [
      ok(),
      all.some(isMemo) ? new RemoveMessage({ id: "memo" }) : system("pin", "memo"),
    ]),
    ["one", "ok", "pin", "two", "ok", "three", "ok"],
  ],
  "questions that become notes": [
    changing((all) => [system("note", all.at(-1)?.id), ok()]),
    ["note", "ok", "note", "ok", "note", "ok"],
  ],
  "messages reversed": [
    rearranging((all) => [...all, ok()].toReversed()),
    ["one", "ok", "two", "ok", "three", "ok"],
  ],
  "an answer removed that another took the place of": [
    changing((all) =>
      all.some(({ id }) => id === "a")
        ? [ai("a", "a text that is longer"), new RemoveMessage({ id: "a" }), ok()]
        : [counted("a", "one answer")],
    ),
    ["one", "one answer", "two", "ok", "three"],
  ],
};

type Exchange = readonly [graph: RunnableGraph, input: unknown];
const CASES: Readonly<Record<string, readonly [exchanges: readonly Exchange[], rows: string[]]>> = {
  "all removed at the end": [
    [
      [writing([ai("1", "one")], [removeAll()]), "hi"],
      [writing([ai("2", "two")], [removeAll()]), "again"],
    ],
    ["hi", "one", "again", "two"],
  ],
  "a message of the user given again": [
    [
      [writing([ai("1", "one")]), human("u", "short")],
      [writing([ai("2", "two")]), human("u", "a text that is longer")],
    ],
    ["a text that is longer", "one", "two"],
  ],
  "an answer changed": [
    [[writing([ai("1", "one")], [ai("1", "a text that is longer")]), "hi"]],
    ["hi", "a text that is longer"],
  ],
  "an answer changed that was counted": [
    [[writing([counted("1", "one")], [ai("1", "a text that is longer")]), "hi"]],
    ["hi", "a text that is longer"],
  ],
  "an answer that the user replaces": [
    [
      [writing([ai("1", "one")]), "hi"],
      [writing([ai("2", "two")]), human("1", "a text that is longer")],
    ],
    ["hi", "a text that is longer", "two"],
  ],
  "ids that are doubled": [
    [
      [appending(ai("1", "one"), ai("1", "and two")), "hi"],
      [appending(ai("1", "and three of them")), human("u", "again")],
    ],
    ["hi", "and three of them", "again"],
  ],
  "a channel that holds one message": [
    [
      [chain([ai("1", "one")], Latest as never), "hi"],
      [chain([ai("2", "two"), "no message"], Latest as never), "again"],
      [chain([ai("3", "three"), ai("3", "a text that is longer")], Latest as never), "more"],
    ],
    ["hi", "one", "again", "two", "more", "a text that is longer"],
  ],
  "doubled ids that change places, and are dropped": [
    [
      [
        chain(
          [
            [ai("1", "one"), ai("1", "two")],
            [ai("1", "two"), ai("1", "one")],
          ],
          Latest as never,
        ),
        "hi",
      ],
      [chain([[ai("2", "a"), ai("2", "b")], [ai("2", "a")]], Latest as never), "again"],
    ],
    ["hi", "one", "again", "a"],
  ],
  "ids that are the same without NUL": [
    [[writing([ai("a\0b", "one"), ai("ab", "a text that is longer")]), "hi"]],
    ["hi", "a text that is longer"],
  ],
};

describeEngine("messages", (engine) => {
  it("[GRAPH-36] agree with their checkpoints, whatever a graph does with them", async () => {
    const { location, reprise } = await openOn(engine);
    await using store = await openStoreAt(location);
    for (const [name, [exchanges, rows]] of Object.entries(CASES)) {
      const { id } = await reprise.sessions.create();
      for (const [graph, input] of exchanges) {
        await reprise.run(id, graph, input as string);
      }
      const { messages } = await reprise.sessions.get(id);
      expect(
        messages.map(({ content }) => content),
        name,
      ).toEqual(rows);
      await expectVerified(location, id);
      await importTree(store, withNewIds(await store.read(readSessionTree, { id })));
    }
  });

  it("[GRAPH-36] [PROOF-2] [PROOF-21] agree with their checkpoints, however a graph rearranges them", async () => {
    const { location, reprise } = await openOn(engine);
    await using store = await openStoreAt(location);
    for (const [name, [graph, rows]] of Object.entries(REARRANGED)) {
      const { id } = await reprise.sessions.create();
      for (const text of ["one", "two", "three"]) {
        await reprise.run(id, graph, text);
        await expectVerified(location, id);
      }
      const { messages, ...session } = await reprise.sessions.get(id);
      expect(
        messages.map(({ content }) => content),
        name,
      ).toEqual(rows);
      expect(session.title, name).toBe("one");
      await importTree(store, withNewIds(await store.read(readSessionTree, { id })));
    }
  });

  it("[GRAPH-36] [PROOF-2] agree if a graph adds a message of the user while another one waits", async () => {
    const { location, reprise, id } = await openOn(engine);
    const graph = changing(() => [new HumanMessage("an example"), ok()]);
    const waiting = new StateGraph(MessagesAnnotation)
      .addNode("append", async () => {
        await reprise.sessions.append(id, "meanwhile");
        return { messages: [new HumanMessage("an example"), ok()] };
      })
      .addEdge(START, "append")
      .compile() as RunnableGraph;
    await reprise.run(id, waiting, "two");
    await reprise.run(id, graph, null);
    await expectVerified(location, id);
  });

  it("[PROOF-2] [PROOF-5] [PROOF-28] are found if their rows change places, and put back", async () => {
    const { location, reprise } = await openOn(engine);
    await using store = await openStoreAt(location);
    const [graph, rows] = REARRANGED["a system message renewed in front"] ?? [];
    const { id } = await reprise.sessions.create();
    for (const text of ["one", "two", "three"]) {
      await reprise.run(id, graph as RunnableGraph, text);
    }
    for (const [from, to] of [
      [3, 99],
      [9, 3],
      [99, 9],
    ] as const) {
      await execute(
        store,
        "UPDATE messages SET seq = ? WHERE session_id = ? AND seq = ?",
        to,
        id,
        from,
      );
    }
    const { findings } = await verifySession(store, id);
    expect(findings.map(({ kind }) => kind)).toContain("order");
    expect((await repair(store, id)).rows).toMatchObject({ moved: 2 });
    const { messages } = await reprise.sessions.get(id);
    expect(messages.map(({ content }) => content)).toEqual(rows);
    await expectVerified(location, id);
  });

  it("[GRAPH-37] takes the last of messages with the same id", async () => {
    const { location, reprise, id } = await openOn(engine);
    const input = [human("u", "first"), human("a\0b", "kept"), human("u", "last")];
    const { messages } = await reprise.run(id, writing([ai("1", "one")]), input);
    expect(messages.map(({ content }) => content)).toEqual(["last", "kept", "one"]);
    expect((await reprise.sessions.get(id)).messages).toHaveLength(3);
    await expectVerified(location, id);
  });

  it("[GRAPH-38] with an id that is not a text are refused with a sentence", async () => {
    const { location, reprise, id } = await openOn(engine);
    for (const odd of [5, { a: 1 }] as unknown[]) {
      const failed = reprise.run(id, writing([ai(odd as string, "lost")]), "hi");
      await expect(failed).rejects.toMatchObject({
        code: "agent_failed",
        message: expect.stringContaining("id is not a text") as string,
      });
    }
    const input = [human(7 as never, "mine"), ai({} as never, "yours")];
    const { messages } = await reprise.run(id, writing([ai("1", "one")]), input);
    expect(messages.map(({ content }) => content)).toEqual(["mine", "yours", "one"]);
    await expectVerified(location, id);
  });
});
