import { HttpAgent, type Interrupt, type Message } from "@ag-ui/client";
import { expect, it } from "vitest";

import { startModelServer } from "../../helpers/model-server.ts";
import {
  payingModel,
  startPayingService,
  startRunningService,
  TOKEN,
} from "../../helpers/paying-service.ts";

it("[UI-5] [UI-6] holds a conversation with parallel calls and an interrupt with the package @ag-ui/client", async () => {
  const t = await startPayingService(payingModel);
  const agent = new HttpAgent({
    url: `${t.url}/api/sessions/${t.id}/ui/ag-ui`,
    threadId: t.id,
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const say = async (id: string, content: string) => {
    agent.addMessage({ id, role: "user", content });
    return agent.runAgent({ runId: `run of ${id}` });
  };
  const textOf = (message: Message | undefined): unknown => message?.content;

  await say("u1", "hello");
  expect(textOf(agent.messages.at(-1))).toBe("you said: hello 👩‍🚀é");

  let interrupts: readonly Interrupt[] = [];
  agent.subscribe({
    onRunFinishedEvent: ({ event }) => {
      interrupts = event.outcome?.type === "interrupt" ? event.outcome.interrupts : [];
    },
  });
  await say("u2", "pay rent");
  expect(interrupts).toMatchObject([
    {
      reason: "permission",
      message: "Pay rent?",
      metadata: { choices: [{ id: "allow_once" }, { id: "deny" }] },
    },
  ]);
  expect(t.paid()).toEqual([]);
  const interruptId = interrupts[0]?.id ?? "";
  await agent.runAgent({
    runId: "answer",
    resume: [{ interruptId, status: "resolved", payload: { choice: "allow_once" } }],
  });
  expect(interrupts).toEqual([]);
  expect(t.paid()).toEqual(["rent"]);
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
  expect(textOf(agent.messages.at(-1))).toContain("paid rent");
  expect(t.failures).toEqual([]);
});

it("[UI-42] refuses a new message beside answers, and loses neither", async () => {
  const t = await startPayingService(payingModel);
  const post = async (body: object) => {
    const answer = await fetch(`${t.url}/api/sessions/${t.id}/ui/ag-ui`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ threadId: "t", runId: "r", ...body }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const messages = [{ id: "u1", role: "user", content: "pay rent" }];
  const [, interruptId] =
    /"interrupts":\[\{"id":"([^"]+)"/.exec((await post({ messages })).text) ?? [];
  const resume = [{ interruptId, status: "resolved", payload: { choice: "allow_once" } }];
  const other = { id: "u2", role: "user", content: "pay water instead" };
  expect(await post({ messages: [...messages, other], resume })).toMatchObject({ status: 422 });
  expect(t.paid()).toEqual([]);
  // a message that was sent before is not a new message
  expect(await post({ messages, resume })).toMatchObject({ status: 200 });
  expect(t.paid()).toEqual(["rent"]);
});

it("[UI-5] begins with the last messages that fit", async () => {
  const model = await startModelServer({ answer: () => ({ content: "read" }) });
  // nothing is summarized
  const t = await startRunningService({
    ...model.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
    REPRISE_CONTEXT_TOKENS: "1000000",
  });
  const run = async (id: string, content: string): Promise<string> => {
    const answer = await fetch(`${t.url}/api/sessions/${t.id}/ui/ag-ui`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ threadId: "t", runId: id, messages: [{ id, role: "user", content }] }),
    });
    return answer.text();
  };
  for (const letter of ["w", "x", "y"]) {
    await run(letter, letter.repeat(180_000));
  }
  const [, json = ""] = /data: (\{"type":"MESSAGES_SNAPSHOT".*)/.exec(await run("z", "z")) ?? [];
  const { messages } = JSON.parse(json) as { readonly messages: readonly { content: string }[] };
  const begins = messages.map(({ content }) => content.slice(0, 4));
  expect(begins).toEqual(["read", "xxxx", "read", "yyyy", "read", "z"]);
});
