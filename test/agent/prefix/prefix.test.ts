import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { z } from "zod";

import { buildAgent } from "../../../src/agent/agent.ts";
import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { threadId } from "../../../src/core/threads.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { releaseLease, takeLease } from "../../../src/store/records/leases/lease.ts";
import { leasedStore } from "../../helpers/checkpoints/leased-store.ts";
import type { Bench } from "../../helpers/exchanger.ts";
import { onlyModel } from "../../helpers/only-model.ts";
import { PERMITTED } from "../../helpers/permit.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { contentOf, type MessagesBody } from "../../helpers/providers/claude/request.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import { setPlanMode } from "../../../src/store/records/sessions/change.ts";
import type { Script } from "../../helpers/providers/server.ts";
import { call, reasoning, text } from "../../helpers/providers/steps.ts";
import { openBound } from "./bound-bench.ts";
import { bodyAt, breaksIn, hasResult, isSummaryRequest, partsOf } from "./requests.ts";

function live() {
  return { listener: () => undefined, signal: new AbortController().signal };
}

const thinking: Script = (index, body) =>
  isSummaryRequest(body)
    ? [text("SUMMARY")]
    : [
        reasoning(`Thought ${index}.`),
        hasResult(body) ? text(`Answer ${index}.`) : call("list_files", { path: "." }),
      ];

it("[PREFIX-1] [PREFIX-2] [PREFIX-4] modes and instructions that change are notes, and every request adds to the one before", async () => {
  const { provider, store, session, run, repo, parts } = await openBound(thinking);
  const { id } = session;
  await run({ text: "one" });
  await store.write(setPlanMode, { id, plan_mode: true });
  await run({ text: "two" });
  writeFileSync(join(repo, "AGENTS.md"), "Be brief.");
  await store.write(setPlanMode, { id, plan_mode: false });
  await run({ text: "three" });
  rmSync(join(repo, "AGENTS.md"));
  const silent = createExchanger({ ...parts, permission: { allow: [], asks: false } });
  await silent.exchange({ session_id: id, text: "four" }, live());
  await run({ text: "five" });
  expect(provider.refusals()).toEqual([]);
  expect(provider.received.flatMap(({ dropped }) => dropped)).toEqual([]);
  expect(breaksIn(provider.received)).toEqual([]);
  const notes = partsOf(provider.received.at(-1) ?? { body: {} }).flatMap(
    (part) => /<note_of_the_program>(.*)<\/note_of_the_program>/.exec(part)?.[1] ?? [],
  );
  expect(notes).toHaveLength(4);
  expect(notes[0]).toContain("Planning mode is on");
  expect(notes[1]).toMatch(/Planning mode is off.*AGENTS.md.*Be brief\./);
  expect(notes[2]).toMatch(/Nobody can be asked.*no longer apply/);
  expect(notes[3]).toBe("\\nThe user can be asked again.\\n");
});

it("[PREFIX-2] no row has the note", async () => {
  const { store, session, run, events } = await openBound(thinking);
  await run({ text: "one" });
  await store.write(setPlanMode, { id: session.id, plan_mode: true });
  const { messages } = await run({ text: "two" });
  expect(messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "two",
  ]);
  expect(JSON.stringify(events)).not.toContain("Planning mode");
});

it("[PREFIX-1] another process and a later exchange send what the first one stored", async () => {
  const { provider, session, run, parts } = await openBound(thinking);
  await run({ text: "one" });
  const extra = tool(() => "done", { name: "extra", description: "x", schema: z.object({}) });
  const later = createExchanger({ ...parts, programTools: [extra] });
  await later.exchange({ session_id: session.id, text: "two" }, live());
  expect(breaksIn(provider.received)).toEqual([]);
});

it("[PREFIX-1] [PREFIX-4] a summary begins a prefix with the current mode, without notes and reasoning from before", async () => {
  const { provider, store, session, run, parts } = await openBound(thinking);
  await run({ text: "one" });
  await store.write(setPlanMode, { id: session.id, plan_mode: true });
  await run({ text: "two" });
  await store.write(setPlanMode, { id: session.id, plan_mode: false });
  await run({ text: "three" });
  await createExchanger(parts).compact({ session_id: session.id }, live());
  const summarised = provider.received.length;
  await run({ text: "four" });
  await run({ text: "five" });
  expect(provider.refusals()).toEqual([]);
  const after = provider.received.slice(summarised);
  expect(breaksIn(after)).toEqual([]);
  const first = partsOf(after[0] ?? { body: {} }).join("\n");
  expect(first).toContain("summarised");
  expect(first).not.toMatch(/Planning mode|thinking/);
});

it("[PREFIX-5] blocks keep their order, also those of a call that gets another id", async () => {
  const { provider, run } = await openBound((index) =>
    index === 0
      ? [
          reasoning("First."),
          text("I delegate."),
          call("delegate", { persona: "assistant", task: "answer" }),
          reasoning("Second."),
          call("list_files", { path: "." }),
        ]
      : [text("Done.")],
  );
  expect((await run({ text: "go" })).answer).toBe("Done.");
  expect(provider.refusals()).toEqual([]);
  const { messages } = bodyAt(provider.received);
  const kinds = contentOf(messages[1]?.content).map(
    ({ type = "", name }) => `${type} ${typeof name === "string" ? name : ""}`,
  );
  expect(kinds).toEqual([
    "thinking ",
    "text ",
    "tool_use delegate",
    "thinking ",
    "tool_use list_files",
  ]);
});

it("[PREFIX-5] an answer with a call that cannot be read loses its reasoning, and the session continues", async () => {
  const { provider, run } = await openBound((index) =>
    index === 0
      ? [reasoning("Hm."), { kind: "call", name: "list_files", args: '{"path": ".', size: 4 }]
      : [reasoning("Better."), text("Done.")],
  );
  expect((await run({ text: "go" })).answer).toBe("Done.");
  expect((await run({ text: "again" })).answer).toBe("Done.");
  expect(provider.refusals()).toEqual([]);
  expect(JSON.stringify(provider.received.at(-1)?.body)).not.toContain("Hm.");
});

it("[PREFIX-6] a refused prefix is sent once more without what does not fit, which the thread keeps and a notice reports", async () => {
  const bench = await openBound(thinking);
  const { provider, run, events } = bench;
  await run({ text: "one" });
  // an importer or another program has changed what came before
  await changeFirstMessage(bench);
  await run({ text: "two" });
  await run({ text: "three" });
  expect(provider.refusals().map(({ rule }) => rule)).toEqual(["thinking_prefix"]);
  const behaviours = provider.received.map(
    ({ body }) =>
      (body as unknown as MessagesBody).thinking?.block_binding?.prefix_mismatch_behavior,
  );
  expect(behaviours.slice(-3)).toEqual(["drop_block", "drop_block", "drop_block"]);
  expect(events.filter(({ type }) => type === "notice")).toMatchObject([
    { about: "reasoning_dropped" },
  ]);
});

/** Changes the first message of the thread as another program may. */
async function changeFirstMessage({ store, session, repo }: Bench): Promise<void> {
  const fence = await store.write(takeLease, {
    session_id: session.id,
    life_ms: 60_000,
    owner: { host: "gone", machine: "", pid: 1, command: "test", since: "" },
  });
  const saver = createCheckpointSaver({ store: leasedStore(store) });
  const agent = buildAgent({
    session,
    persona: {
      name: "a",
      description: "",
      model: null,
      effort: null,
      fallback: null,
      tools: null,
      prompt: "",
      source: "built-in",
      path: "",
      notes: [],
      servers: {},
    },
    folder: repo,
    root: null,
    readOnly: false,
    mayRun: false,
    cacheLife: "5m",
    ...PERMITTED,
    instructions: null,
    skills: [],
    models: onlyModel(await openModel({ name: "demo", config: modelConfig({}) })),
    saver,
    delegate: null,
    protectedPaths: [],
  });
  const config = { configurable: { thread_id: threadId(session.id, 0) } };
  const [first] = messagesOf(await saver.getTuple(config));
  const messages = [new HumanMessage({ id: first?.id ?? "", content: "changed" })];
  await agent.updateState(config, { messages }, "model_request");
  await store.write(releaseLease, { fence, finished: true });
}

it("[PREFIX-8] the prefix of the built-in tools takes 8 KB at most", async () => {
  const { provider, run } = await openBound(
    thinking,
    {},
    {
      commands: { env: process.env, outputFolder: temporaryFolder() },
      checkPlan: () => Promise.resolve({ findings: [], plan: null }),
    },
  );
  await run({ text: "one" });
  const { tools, system } = bodyAt(provider.received, 0);
  const names = new Set((tools ?? []).map(({ name }) => name));
  expect(BUILT_IN_TOOLS.names.filter((name) => !names.has(name))).toEqual([]);
  expect(JSON.stringify({ tools, system }).length).toBeLessThanOrEqual(8192);
});

it("[PREFIX-9] an exchange of over 50,000 tokens says once if less than half of them came from the cache", async () => {
  const file = "A line of a file that the agent reads.\n".repeat(2000);
  const { provider, run, repo, events } = await openBound((_, body) =>
    hasResult(body) ? [text("Read.")] : [call("read_file", { path: "a.txt" })],
  );
  writeFileSync(join(repo, "a.txt"), file);
  const notices = () => events.flatMap((event) => (event.type === "notice" ? event.sentence : []));
  for (let index = 0; index < 4; index += 1) {
    await run({ text: `exchange ${index}` });
  }
  expect(notices()).toEqual([]);
  provider.advance(6 * 60_000);
  await run({ text: "after a pause" });
  expect(notices()).toEqual([expect.stringContaining("the provider's cache had")]);
});
