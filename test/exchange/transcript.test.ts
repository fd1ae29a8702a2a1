import { expect, it } from "vitest";

import { readTranscript } from "../../src/exchange/transcript/read-transcript.ts";
import { statementsOf } from "../helpers/count-statements.ts";
import { describeEngines, execute, newSession, openFresh } from "../helpers/engines.ts";

const DAY = "2026-11-27T12:00:00.000Z";
const MESSAGES = 150;

describeEngines("a transcript", (engine) => {
  it("[EXPORT-8] asks once a page for changes of files", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    for (let seq = 1; seq <= MESSAGES; seq += 1) {
      const calls = JSON.stringify([{ id: `c${seq}`, name: "edit_file", args: {} }]);
      await execute(
        store,
        `INSERT INTO messages (session_id, seq, message_id, role, content, tool_calls) VALUES (?, ?, ?, 'assistant', '', ?)`,
        id,
        seq,
        `m${seq}`,
        calls,
      );
    }
    await execute(store, "UPDATE sessions SET last_seq = ? WHERE id = ?", MESSAGES, id);
    for (const seq of [7, 90]) {
      await execute(
        store,
        `INSERT INTO file_changes (session_id, number, n, call_id, tool, root, path, state, host, ts, entry_after)
          VALUES (?, ?, 1, ?, 'edit_file', '/r', 'a', 'made', 'shop', '${DAY}', '{"kind":"folder","mode":448}')`,
        id,
        seq,
        `c${seq}`,
      );
    }
    const changed: number[] = [];
    const { statements } = await statementsOf(async () => {
      const changes = { store, kept: null };
      for await (const item of readTranscript({ store, changes }, { id })) {
        if (item.type === "message" && item.changes.size > 0) {
          changed.push(item.message.seq);
        }
      }
    });
    expect(changed).toEqual([7, 90]);
    expect(statements.filter((sql) => sql.includes("file_changes"))).toHaveLength(1);
    expect(statements.length).toBeLessThan(20);
  });
});
