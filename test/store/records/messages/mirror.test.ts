import { expect, it } from "vitest";

import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { mirrorMessages } from "../../../../src/store/records/messages/mirror.ts";
import type { MirrorMessage } from "../../../../src/store/records/messages/mirror-message.ts";
import {
  readDetail,
  readMessagesAfter,
  readPending,
} from "../../../../src/store/records/messages/read.ts";
import { listSessions } from "../../../../src/store/records/sessions/list.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import { describeEngines, newSession, openFresh } from "../../../helpers/engines.ts";

const answer: MirrorMessage = {
  message_id: "a1",
  role: "assistant",
  content: "the answer",
  tool_calls: [
    {
      id: "c1",
      name: "read_file",
      args: { path: "README.md", lines: [1, 2] },
      effect: "reads",
      subject: "README.md",
    },
  ],
  token_count: 7,
  is_summary: false,
  usage: { input_tokens: 100, output_tokens: 7 },
};
const plain = { tool_calls: null, token_count: 0, is_summary: false, usage: null } as const;

describeEngines("mirrorMessages", (engine) => {
  it("gives the row and the session's last activity the same time, always", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const messages = Array.from({ length: 300 }, (_, index) => ({
      ...plain,
      message_id: `m${index}`,
      role: "assistant" as const,
      content: `${index}`,
    }));

    const moments = await store.write(async (tx) => {
      const lastMessageAt: (string | null)[] = [];
      for (const message of messages) {
        await mirrorMessages(tx, { session_id, messages: [message] });
        lastMessageAt.push((await readSession(tx, { id: session_id })).last_message_at);
      }
      return lastMessageAt;
    }, null);

    const rows = await store.read(readMessagesAfter, {
      session_id,
      after_seq: 0,
      all: true,
      limit: 300,
    });
    expect(rows.map(({ ts }) => ts)).toEqual(moments);
  });

  it("[STORE-18] replaces a pending message's estimate by the provider's count", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const { message } = await store.write(appendUserMessage, {
      reference: session_id,
      content: "x".repeat(40),
    });
    const pending = await store.write(appendUserMessage, {
      reference: session_id,
      content: "y".repeat(20),
    });
    expect(pending.session.total_input_tokens).toBe(10 + 5);

    await store.write(mirrorMessages, {
      session_id,
      messages: [
        { ...plain, message_id: message.message_id, role: "user", content: message.content },
        answer,
      ],
    });

    // 5 is the estimate of the message that still waits
    expect(await store.read(readSession, { id: session_id })).toMatchObject({
      total_input_tokens: 100 + 5,
      total_output_tokens: 7,
      last_seq: 3,
    });
    expect(await store.read(readPending, { session_id })).toEqual([pending.message]);
  });

  it("[STORE-18] [STORE-72] the total of input tokens never falls, and stays until the count has passed it", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const totals: number[] = [];
    const note = async (): Promise<void> => {
      totals.push((await store.read(readSession, { id: session_id })).total_input_tokens);
    };
    const send = async (message_id: string, input_tokens: number): Promise<void> => {
      const reference = session_id;
      const { message } = await store.write(appendUserMessage, {
        reference,
        content: "x".repeat(40),
      });
      await note();
      const { message_id: id, content } = message;
      const user = { ...plain, message_id: id, role: "user" as const, content };
      await store.write(mirrorMessages, { session_id, messages: [user] });
      await note();
      const usage = { input_tokens, output_tokens: 1 };
      await store.write(mirrorMessages, {
        session_id,
        messages: [{ ...answer, message_id, usage }],
      });
      await note();
    };
    await send("a1", 4);
    const { session } = await store.read(readSessionTree, { id: session_id });
    expect(session.input_tokens_ahead).toBe(6);
    await send("a2", 12);
    await send("a3", 30);
    // counted: 4, 16, 46
    expect(totals).toEqual([10, 10, 10, 20, 20, 20, 30, 30, 46]);
  });

  it("[STORE-18] appends what is new, keeps the seq of what is known, and counts it once", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const user = await store.write(appendUserMessage, { reference: session_id, content: "ask" });
    const input = {
      session_id,
      messages: [
        {
          ...plain,
          message_id: user.message.message_id,
          role: "user",
          content: "ask",
          token_count: 3,
        },
        answer,
        { ...plain, message_id: "t1", role: "tool", content: "# Reprise" },
        { ...plain, message_id: "s1", role: "system", content: "so far", is_summary: true },
      ],
    } as const;

    await store.write(mirrorMessages, input);
    const once = await store.read(readDetail, { reference: session_id, all: true });
    await store.write(mirrorMessages, input);

    expect(await store.read(readDetail, { reference: session_id, all: true })).toEqual(once);
    expect(once.session).toMatchObject({ total_input_tokens: 100, total_output_tokens: 7 });
    expect(once.messages).toMatchObject([
      { seq: 1, role: "user", content: "ask", tool_calls: null },
      { seq: 2, role: "assistant", tool_calls: answer.tool_calls, token_count: 7 },
      { seq: 3, role: "tool", is_summary: false },
      { seq: 4, role: "system", is_summary: true },
    ]);
  });

  it("[STORE-37] needs few statements for many messages, new and known ones", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);
    const pending: string[] = [];
    for (let index = 0; index < 300; index += 1) {
      const { message } = await store.write(appendUserMessage, {
        reference: session_id,
        content: `pending ${index}`,
      });
      pending.push(message.message_id);
    }
    const messages: MirrorMessage[] = [
      ...pending.map((message_id, index) => ({
        ...plain,
        message_id,
        role: "user" as const,
        content: `pending ${index}`,
      })),
      ...Array.from({ length: 700 }, (_, index) => ({
        ...answer,
        message_id: `answer ${index}`,
        content: `answer ${index}`,
      })),
    ];

    let statements = 0;
    await store.write(async (tx) => {
      const db = tx.db.withPlugin({
        transformQuery: ({ node }) => {
          statements += 1;
          return node;
        },
        transformResult: ({ result }) => Promise.resolve(result),
      });
      await mirrorMessages({ ...tx, db }, { session_id, messages });
    }, null);

    expect(statements).toBeLessThan(12);
    const rows = await store.read(readMessagesAfter, {
      session_id,
      after_seq: 0,
      all: true,
      limit: 2000,
    });
    expect(rows.map(({ seq, content }) => [seq, content])).toEqual(
      messages.map(({ content }, index) => [index + 1, content]),
    );
    expect(await store.read(readPending, { session_id })).toEqual([]);
    expect(await store.read(readSession, { id: session_id })).toMatchObject({
      last_seq: 1000,
      total_input_tokens: 70_000,
      total_output_tokens: 4900,
    });
  });

  it("does nothing for a session that does not exist, and nothing without messages", async () => {
    const store = await openFresh(engine);
    const { id: session_id } = await newSession(store);

    await store.write(mirrorMessages, { session_id: "elsewhere", messages: [answer] });
    await store.write(mirrorMessages, { session_id, messages: [] });

    expect(await store.read(listSessions, { limit: 10 })).toMatchObject({
      sessions: [{ id: session_id, last_seq: 0, last_message_at: null }],
    });
  });
});
