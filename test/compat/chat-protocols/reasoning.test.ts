import { HttpAgent } from "@ag-ui/client";
import { expect, it, onTestFinished } from "vitest";

import { startRunningService, TOKEN } from "../../helpers/paying-service.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { reasoning, type Step, text } from "../../helpers/providers/steps.ts";
import { openChat, textOf } from "../../helpers/ui-chat.ts";

/** A service whose model thinks before it answers. The first attempt breaks off once its reasoning was seen. */
async function startThinkingService() {
  const gate = Promise.withResolvers<void>();
  const script = (index: number): readonly Step[] =>
    index === 0
      ? [
          reasoning("in vain"),
          { kind: "wait", until: gate.promise },
          { kind: "error", cause: "overloaded" },
        ]
      : [reasoning("let me "), reasoning("see"), text("an "), text("answer")];
  const provider = await startProvider("anthropic", script);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const env = { ...provider.env, REPRISE_MODEL: "anthropic:claude-sonnet-5-5" };
  return { ...(await startRunningService(env)), breakOff: gate.resolve };
}

it("[UI-43] the package ai shows reasoning as parts beside the text", async () => {
  const t = await startThinkingService();
  const chat = openChat({ ...t, token: TOKEN });
  const sent = chat.sendMessage({ text: "hello" });
  await expect.poll(() => JSON.stringify(chat.messages)).toContain("in vain");
  t.breakOff();
  await sent;
  expect(chat.error).toBeUndefined();
  expect(textOf(chat.lastMessage)).toBe("an answer");
  const thoughts = chat.lastMessage?.parts.flatMap((part) =>
    part.type === "reasoning" ? [part.text] : [],
  );
  expect(thoughts).toEqual(["let me see"]);
});

it("[UI-43] the package @ag-ui/client shows reasoning as messages", async () => {
  const t = await startThinkingService();
  const agent = new HttpAgent({
    url: `${t.url}/api/sessions/${t.id}/ui/ag-ui`,
    threadId: t.id,
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  agent.addMessage({ id: "u1", role: "user", content: "hello" });
  const ran = agent.runAgent({ runId: "1" });
  await expect.poll(() => JSON.stringify(agent.messages)).toContain("in vain");
  t.breakOff();
  await ran;
  const shown = agent.messages.map(({ role, content }) => [role, content]);
  expect(shown).toContainEqual(["reasoning", "let me see"]);
  expect(shown).toContainEqual(["assistant", "an answer"]);
  expect(JSON.stringify(shown)).not.toContain("in vain");
});
