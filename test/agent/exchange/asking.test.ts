import { readFileSync, writeFileSync } from "node:fs";

import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { z } from "zod";

import { buildAgent } from "../../../src/agent/agent.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { threadId } from "../../../src/core/threads.ts";
import { releaseLease, takeLease } from "../../../src/store/records/leases/lease.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { leasedStore } from "../../helpers/checkpoints/leased-store.ts";
import { ProgramModel } from "../../helpers/checkpoints/program-model.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { onlyModel } from "../../helpers/only-model.ts";
import { PERMITTED } from "../../helpers/permit.ts";
import { startModelServer } from "../../helpers/model-server.ts";

const CALLS = [
  { id: "write", name: "write_file", args: { path: "note.txt", content: "written" } },
  { id: "ask", name: "ask_person", args: {} },
];

/** Leaves the session with a question to a person, asked beside a tool that has finished. */
async function askBesideFinished({ store, session }: Bench): Promise<void> {
  const owner = thisProcess("test");
  const fence = await store.write(takeLease, { session_id: session.id, life_ms: 60_000, owner });
  const agent = buildAgent({
    session,
    persona: {
      name: "assistant",
      description: "",
      model: null,
      effort: null,
      fallback: null,
      tools: null,
      prompt: "p",
      source: "built-in",
      path: "",
      notes: [],
      servers: {},
    },
    folder: session.repo_path,
    root: null,
    readOnly: false,
    mayRun: false,
    cacheLife: "5m",
    ...PERMITTED,
    instructions: null,
    skills: [],
    models: onlyModel(
      new ProgramModel(() => new AIMessage({ id: "calls", content: "", tool_calls: CALLS })),
    ),
    saver: createCheckpointSaver({ store: leasedStore(store) }),
    delegate: tool(() => interrupt("may I?"), {
      name: "ask_person",
      description: "Asks.",
      schema: z.object({}),
    }),
    protectedPaths: [],
  });
  await agent.invoke(
    { messages: [new HumanMessage({ id: "user", content: "write a note and ask" })] },
    { configurable: { thread_id: threadId(session.id, 0) }, durability: "sync" },
  );
  await store.write(releaseLease, { fence, finished: false });
}

it("[EXCHANGE-12] runs no tool that finished beside a question when the exchange is continued", async () => {
  const server = await startModelServer({ answer: () => ({ content: "gone on" }) });
  const bench = await openBench(server);
  await askBesideFinished(bench);
  expect(readFileSync(`${bench.repo}/note.txt`, "utf8")).toBe("written");
  writeFileSync(`${bench.repo}/note.txt`, "mine");

  expect((await bench.run()).answer).toBe("gone on");

  expect(readFileSync(`${bench.repo}/note.txt`, "utf8")).toBe("mine");
  expect(server.requests().map((messages) => messages.slice(2))).toMatchObject([
    [
      { role: "tool", tool_call_id: "write" },
      // it had only asked, so it begins again; this exchange has no such tool
      {
        role: "tool",
        tool_call_id: "ask",
        content: expect.stringMatching(/"ask_person" not found/),
      },
    ],
  ]);
  const rows = await expectNoDrift(bench.database, bench.session.id);
  expect(rows.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
});
