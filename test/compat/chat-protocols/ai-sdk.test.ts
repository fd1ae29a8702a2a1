import { expect, it, onTestFinished } from "vitest";

import { payingModel, startPayingService, TOKEN } from "../../helpers/paying-service.ts";
import { startTestServer } from "../../helpers/server.ts";
import { openChat, textOf } from "../../helpers/ui-chat.ts";

const LONG = `a text that takes ${"a while, ".repeat(30)}and ends`;
it("[UI-1] [UI-2] holds a conversation with parallel calls and a question with the package ai", async () => {
  const t = await startPayingService(payingModel);
  const chat = openChat({ ...t, token: TOKEN });
  await chat.sendMessage({ text: "hello" });
  expect(chat.error).toBeUndefined();
  expect(textOf(chat.lastMessage)).toBe("you said: hello 👩‍🚀é");

  await chat.sendMessage({ text: "pay rent" });
  const asked = chat.lastMessage?.parts.find(
    (part) => part.type === "dynamic-tool" && part.state === "approval-requested",
  );
  expect(asked).toMatchObject({ toolName: "pay", input: { what: "rent" } });
  expect(t.paid()).toEqual([]);
  const approval = asked?.type === "dynamic-tool" ? asked.approval?.id : undefined;
  await chat.addToolApprovalResponse({ id: approval ?? "", approved: true });
  await expect.poll(() => textOf(chat.lastMessage)).toContain("paid rent");
  await expect.poll(() => chat.status).toBe("ready");
  expect(chat.error).toBeUndefined();
  expect(t.paid()).toEqual(["rent"]);
  const tools = chat.lastMessage?.parts.filter(({ type }) => type === "dynamic-tool");
  expect(tools).toMatchObject([
    { toolName: "read_file", state: "output-available" },
    { toolName: "read_file", state: "output-available" },
    { toolName: "pay", state: "output-available", output: "paid rent" },
  ]);
  expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(t.failures).toEqual([]);
});

it("[UI-4] [UI-7] a client that was cut resumes on another node, from the beginning of the exchange", async () => {
  const t = await startPayingService(payingModel, { latencyMs: 40 });
  const other = await startTestServer({ token: TOKEN, store: t.store });
  onTestFinished(() => other[Symbol.asyncDispose]());
  const cut = openChat({ ...t, token: TOKEN });
  const sent = cut.sendMessage({ text: LONG });
  await expect.poll(() => textOf(cut.lastMessage)).toMatch(/^you/);
  await cut.stop();
  await sent;
  const resumed = openChat({ ...t, url: other.url, token: TOKEN }, cut.messages.slice(0, 1));
  await resumed.resumeStream();
  expect(resumed.error).toBeUndefined();
  expect(textOf(resumed.lastMessage)).toBe(`you said: ${LONG} 👩‍🚀é`);
  const ended = openChat({ ...t, url: other.url, token: TOKEN }, resumed.messages);
  await ended.resumeStream();
  expect(ended.messages).toEqual(resumed.messages);

  // as docs/clients.md says of a connection that was lost before the end of an exchange
  const half = openChat({ ...t, url: other.url, token: TOKEN }, cut.messages);
  expect(half.messages).toHaveLength(2);
  await half.sendMessage({ parts: [{ type: "text", text: LONG }], messageId: cut.messages[0]?.id });
  expect(half.messages.map((each) => textOf(each))).toEqual([LONG, `you said: ${LONG} 👩‍🚀é`]);

  // a request that is sent again finds the exchange
  const again = openChat({ ...t, url: other.url, token: TOKEN });
  const [question] = cut.messages;
  await again.sendMessage(question);
  expect(textOf(again.lastMessage)).toBe(`you said: ${LONG} 👩‍🚀é`);
  const { json } = await t.call<unknown[]>("GET", `/api/sessions/${t.id}/exchanges`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(json).toHaveLength(1);
});

it("[UI-3] takes back the text of an attempt that broke off", async () => {
  const t = await startPayingService((messages, index) =>
    index === 0
      ? { error: { message: "try again" }, status: 503 }
      : { content: `attempt ${index} of ${messages.length}` },
  );
  const chat = openChat({ ...t, token: TOKEN });
  await chat.sendMessage({ text: "hello" });
  expect(textOf(chat.lastMessage)).toBe("attempt 1 of 1");
});

it("[UI-8] refuses what it cannot take, and changes nothing", async () => {
  const t = await startPayingService(payingModel);
  const post = (path: string, body: unknown, token = TOKEN) =>
    t.call<{ code: string }>("POST", `/api/sessions/${t.id}/ui/${path}`, {
      body,
      headers: { authorization: `Bearer ${token}` },
    });
  const user = (...parts: unknown[]) => ({ id: "1", role: "user", parts });
  const text = { type: "text", text: "x" };
  const bodies: readonly (readonly [string, unknown])[] = [
    ["ai-sdk", {}],
    ["ai-sdk", { messages: [] }],
    ["ai-sdk", { messages: [user(text, { type: "file", url: "data:," })] }],
    ["ai-sdk", { messages: [user()] }],
    ["ai-sdk", { messages: [user(text)], trigger: "regenerate-message" }],
    ["ai-sdk", { messages: [{ id: "1", role: "assistant", parts: [text] }] }],
    ["ag-ui", { threadId: "t", runId: "r", messages: [] }],
    ["ag-ui", { threadId: "t", runId: "r", messages: [{ id: "1", role: "assistant" }] }],
    ["ag-ui", { threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content: 1 }] }],
    ["ag-ui", { threadId: "t", runId: "r", messages: [], resume: [{ interruptId: "x" }] }],
  ];
  for (const [path, body] of bodies) {
    const { status, json } = await post(path, body);
    expect([path, body, status, json.code]).toEqual([path, body, 422, "invalid_request"]);
  }
  const reply = { state: "approval-responded", type: "dynamic-tool", toolCallId: "c" };
  const approval = { id: "no question", approved: true };
  const unknown = [{ id: "1", role: "assistant", parts: [{ ...reply, approval }] }];
  expect((await post("ai-sdk", { messages: unknown })).status).toBe(409);
  expect((await post("ai-sdk", { messages: [user(text)] }, "wrong")).status).toBe(401);
  const { json } = await t.call<unknown[]>("GET", `/api/sessions/${t.id}/exchanges`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(json).toEqual([]);
});
