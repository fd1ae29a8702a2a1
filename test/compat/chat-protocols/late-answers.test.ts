import { expect, it } from "vitest";

import { createClient } from "../../../src/client/client.ts";
import { createUiEncoder } from "../../../src/compat/chat-protocols/ai-sdk.ts";
import { exchangeInfo } from "../../helpers/live-events.ts";
import { payingModel, startPayingService, TOKEN } from "../../helpers/paying-service.ts";
import { openChat, textOf } from "../../helpers/ui-chat.ts";

it("[UI-41] a chat that answers a question late shows the answer that counts and what followed it, once", async () => {
  const t = await startPayingService(payingModel);
  const place = { ...t, token: TOKEN };
  const first = openChat(place);
  await first.sendMessage({ text: "pay rent" });
  const asked = structuredClone(first.messages);
  const [question] = await createClient({ baseUrl: t.url, token: TOKEN }).listQuestions(t.id);
  const id = question?.id ?? "";
  await first.addToolApprovalResponse({ id, approved: false });
  await expect.poll(() => textOf(first.lastMessage)).toContain("not allowed: rent");
  // another exchange is the current one now
  await first.sendMessage({ text: "hello" });

  let requests = 0;
  const late = openChat(place, asked, (input, init) => {
    requests += 1;
    return fetch(input, init);
  });
  await late.addToolApprovalResponse({ id, approved: true });
  await expect.poll(() => textOf(late.lastMessage)).toContain("not allowed: rent");
  await expect.poll(() => late.status).toBe("ready");
  expect(requests).toBe(1);
  expect(late.error).toBeUndefined();
  expect(late.messages).toHaveLength(2);
  expect(late.lastMessage?.parts).toMatchObject([
    {},
    {},
    {},
    {},
    { toolName: "pay", state: "output-available", output: "not allowed: rent" },
    {},
    { type: "text" },
  ]);
  expect(late.lastMessage?.id).toBe(first.messages[1]?.id);
  expect(t.paid()).toEqual([]);
});

it.each(["stopped", "failed", "done"] as const)(
  "[UI-41] a call without a result has an output once its exchange is %s, so that a chat does not answer again",
  (state) => {
    const encoder = createUiEncoder(exchangeInfo(1, state), {
      answers: new Map([["q", "yes"]]),
      replied: ["call", "q"],
    });
    expect(encoder.start).toContainEqual(expect.objectContaining({ toolCallId: "q" }));
    expect(encoder.end(exchangeInfo(1, state))).toContainEqual(
      expect.objectContaining({ type: "tool-output-error", toolCallId: "call" }),
    );
  },
);
