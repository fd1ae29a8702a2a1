import { HttpAgent } from "@ag-ui/client";
import type { UIMessage } from "ai";
import { expect, it, onTestFinished } from "vitest";

import { startRunningService, TOKEN } from "../../helpers/paying-service.ts";
import { startScriptedProvider, type Step } from "../../helpers/scripted-provider.ts";
import { startTestServer } from "../../helpers/server.ts";
import { openChat, textOf } from "../../helpers/ui-chat.ts";

const HALF = "half an ans😀";
const NODES = ["the same node", "another node"] as const;
const WHOLE = "the whole answer";

/** A service whose provider breaks off twice after it sent text, each time once the text was seen. */
async function startBreakingService(node: (typeof NODES)[number]) {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const script = (index: number): readonly Step[] => {
    const gate = gates[index];
    return gate === undefined
      ? [{ kind: "text", text: WHOLE }]
      : [
          { kind: "text", text: `${HALF} ${index}` },
          { kind: "wait", until: gate.promise },
          { kind: "drop" },
        ];
  };
  const provider = await startScriptedProvider("openai", script);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const t = await startRunningService(provider.env);
  const other = await startTestServer({ token: TOKEN, store: t.store });
  onTestFinished(() => other[Symbol.asyncDispose]());
  const url = node === "the same node" ? t.url : other.url;
  return {
    id: t.id,
    url,
    token: TOKEN,
    provider,
    breakOff: (index: number) => gates[index]?.resolve(),
  };
}

it.each(NODES)(
  "[UI-20] the package ai shows the text of an attempt, and takes it back when the provider breaks off (%s)",
  async (node) => {
    const t = await startBreakingService(node);
    const chat = openChat(t);
    const sent = chat.sendMessage({ text: "hello" });
    for (const index of [0, 1]) {
      await expect.poll(() => textOf(chat.lastMessage)).toBe(`${HALF} ${index}`);
      t.breakOff(index);
    }
    await sent;
    expect(chat.error).toBeUndefined();
    expect(textOf(chat.lastMessage)).toBe(WHOLE);
    expect(JSON.stringify(chat.messages)).not.toContain(HALF);
    expect(t.provider.requests).toHaveLength(3);

    // one that comes back sees the same
    const again: UIMessage[] = chat.messages.slice(0, 1);
    const repeated = openChat(t);
    await repeated.sendMessage(again[0]);
    expect(textOf(repeated.lastMessage)).toBe(WHOLE);
  },
);

it.each(NODES)(
  "[UI-21] the package @ag-ui/client shows the text of an attempt, and takes it back when the provider breaks off (%s)",
  async (node) => {
    const t = await startBreakingService(node);
    const agent = new HttpAgent({
      url: `${t.url}/api/sessions/${t.id}/ui/ag-ui`,
      threadId: t.id,
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    agent.addMessage({ id: "u1", role: "user", content: "hello" });
    const run = agent.runAgent({ runId: "r1" });
    for (const index of [0, 1]) {
      await expect.poll(() => agent.messages.at(-1)?.content).toBe(`${HALF} ${index}`);
      t.breakOff(index);
    }
    await run;
    expect(agent.messages).toMatchObject([
      { id: "u1", role: "user", content: "hello" },
      { role: "assistant", content: WHOLE },
    ]);
    expect(t.provider.requests).toHaveLength(3);
  },
);
