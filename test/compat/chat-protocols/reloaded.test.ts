import { HttpAgent } from "@ag-ui/client";
import { expect, it, onTestFinished } from "vitest";

import { createClient } from "../../../src/client/client.ts";
import { payingModel, startPayingService, TOKEN } from "../../helpers/paying-service.ts";
import { startTestServer } from "../../helpers/server.ts";
import { openChat, textOf } from "../../helpers/ui-chat.ts";

/** A session that waits for a yes to a payment, and another node of its service. */
async function startWaiting() {
  const t = await startPayingService(payingModel);
  const first = openChat({ ...t, token: TOKEN });
  await first.sendMessage({ text: "hello" });
  await first.sendMessage({ text: "pay rent" });
  const other = await startTestServer({ token: TOKEN, store: t.store });
  onTestFinished(() => other[Symbol.asyncDispose]());
  return { ...t, other, place: { url: other.url, id: t.id, token: TOKEN } };
}

it("[UI-25] a chat that is loaded again shows an open question and answers it, on another node", async () => {
  const t = await startWaiting();
  const chat = openChat(t.place);
  await chat.resumeStream();
  const parts = chat.lastMessage?.parts.filter(({ type }) => type === "dynamic-tool");
  expect(parts).toMatchObject([
    { toolName: "read_file", state: "output-available" },
    { toolName: "read_file", state: "output-available" },
    { toolName: "pay", state: "approval-requested" },
  ]);
  const asked = parts?.at(-1);
  const id = asked?.type === "dynamic-tool" ? asked.approval?.id : undefined;
  await chat.addToolApprovalResponse({ id: id ?? "", approved: true });
  await expect.poll(() => textOf(chat.lastMessage)).toContain("paid rent");
  await expect.poll(() => chat.status).toBe("ready");
  expect(chat.error).toBeUndefined();
  expect(t.paid()).toEqual(["rent"]);
});

it("[UI-26] an agent of AG-UI that is loaded again answers a question that the API lists, and gets all messages", async () => {
  const t = await startWaiting();
  const agent = new HttpAgent({
    url: `${t.other.url}/api/sessions/${t.id}/ui/ag-ui`,
    threadId: t.id,
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const client = createClient({ baseUrl: t.other.url, token: TOKEN });
  const questions = await client.listQuestions(t.id);
  const resume = questions.map(({ id }) => ({
    interruptId: id,
    status: "resolved" as const,
    payload: { choice: "allow_once" },
  }));
  await agent.runAgent({ runId: "r", resume });
  expect(agent.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "tool",
    "tool",
    "tool",
    "assistant",
  ]);
  expect(agent.messages.at(-1)?.content).toContain("paid rent");
  expect(t.paid()).toEqual(["rent"]);

  // the same answers again, as after a lost connection: they change nothing
  await agent.runAgent({ runId: "again", resume });
  expect(agent.messages).toHaveLength(8);
  expect(t.paid()).toEqual(["rent"]);
});
