import { expect } from "vitest";

import { mirrorOf } from "../../src/store/records/messages/mirror-row.ts";
import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { messagesOf } from "../../src/agent/messages/thread-state.ts";
import type { Message } from "../../src/core/sessions.ts";
import { threadId } from "../../src/core/threads.ts";
import { readMessagesAfter } from "../../src/store/records/messages/read.ts";
import { readSession } from "../../src/store/records/sessions/read.ts";
import { openStoreAt } from "./open-store.ts";

/**
 * Expects that mirror and checkpoints of a session say the same: every message of every thread's
 * latest checkpoint has its row, and every row but pending user messages has its message.
 */
export async function expectNoDrift(database: string, id: string): Promise<readonly Message[]> {
  await using store = await openStoreAt(database);
  const saver = createCheckpointSaver({ store });
  const session = await store.read(readSession, { id });
  const rows = await store.read(readMessagesAfter, {
    session_id: id,
    after_seq: 0,
    all: true,
    limit: 1_000_000,
  });
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
  expect(session.last_seq).toBe(rows.length);
  const truth = new Set<string>();
  for (let suffix = 0; suffix <= session.thread_suffix; suffix += 1) {
    const messages = messagesOf(
      await saver.getTuple({ configurable: { thread_id: threadId(id, suffix) } }),
    );
    for (const index of messages.keys()) {
      const expected = mirrorOf(messages, index);
      const row = rows.find(({ message_id }) => message_id === expected?.message_id);
      expect(row).toMatchObject({
        role: expected?.role,
        content: expected?.content,
        tool_calls: expected?.tool_calls ?? null,
        call_id: expected?.call_id ?? null,
        status: expected?.status ?? null,
        token_count: expected?.token_count,
      });
      truth.add(expected?.message_id ?? "");
    }
  }
  expect(rows.filter((row) => row.role !== "user" && !truth.has(row.message_id))).toEqual([]);
  return rows;
}
