import { describe, expect, it } from "vitest";

import { HumanMessage } from "@langchain/core/messages";

import { projectKeyOf } from "../../../src/store/project-key.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import {
  answer,
  openBench,
  fieldsFromCheckpoints,
  swap,
  toolRound,
  benchWithTwoExchanges,
} from "../../helpers/sessions/bench.ts";

describe("verify", () => {
  it("[PROOF-1] agrees with what exchanges, appended messages, new threads and clearing leave", async () => {
    const bench = await openBench();
    expect(await bench.kinds()).toEqual([]);
    await bench.append("appended before anything");
    expect(await bench.kinds()).toEqual([]);
    await bench.exchange("and said");
    await bench.exchange("once more");
    await bench.append("archived before the agent got it");
    await bench.freshThread(true);
    expect(await bench.kinds()).toEqual([]);
    await bench.exchange("in thread 1");
    await bench.freshThread(false);
    await bench.append("waits over a change of model");
    await bench.freshThread(false);
    await bench.exchange(null);
    expect(await bench.kinds()).toEqual([]);
    const { pending, state } = await verifySession(bench.store, bench.id);
    // thread 2 was never used
    expect(state.threads.map(({ suffix }) => suffix)).toEqual([0, 1, 3]);
    expect(pending).toBe(1);
    expect(state.rows.map(({ archived }) => archived)).toEqual([1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
  });

  it("[PROOF-1] agrees with tool calls, answers nobody counted, and an edited message", async () => {
    const bench = await benchWithTwoExchanges();
    const round = toolRound("src/main.ts");
    await bench.put(...round);
    expect(await bench.kinds()).toEqual([]);
    const [call, result] = round;
    result.content = "outcome unknown";
    await bench.put(result, answer("third answer", [300, 30]));
    expect(call.tool_calls).toHaveLength(1);
    const dump = await bench.dump();
    expect(dump.rows.map(({ role }) => role).join(" ")).toBe(
      "user assistant user assistant tool assistant user assistant tool assistant",
    );
  });

  it("[PROOF-2] accepts that a message appended during an exchange comes before the answer", async () => {
    const bench = await openBench();
    await bench.append("question");
    await bench.handOver();
    await bench.append("appended meanwhile");
    await bench.put(...toolRound("README.md"));
    await bench.append("and another");
    await bench.put(answer("the answer", [10, 1]));
    await bench.handOver();
    await bench.put(answer("the next answer", [20, 2]));
    expect((await bench.dump()).rows.map(({ content }) => content)).toEqual(
      "question,appended meanwhile,,README.md,and another,the answer,the next answer".split(","),
    );
    expect(await bench.kinds()).toEqual([]);

    // but not after the answer to it, and not before an earlier one of the user's
    await swap(bench, 5, 7);
    expect(await bench.kinds()).toEqual(["order"]);
    await swap(bench, 5, 7);
    expect(await bench.kinds()).toEqual([]);
    await swap(bench, 2, 5);
    expect(await bench.kinds()).toEqual(["order"]);
  });

  it.each<[kinds: string[], sql: string]>([
    [["missing"], "DELETE FROM messages WHERE session_id = :id AND seq = 1"],
    [["missing"], "DELETE FROM messages WHERE session_id = :id AND seq = 4"],
    [["missing"], "DELETE FROM messages WHERE session_id = :id AND checkpointed = 1"],
    [
      ["extra", "missing"],
      "UPDATE messages SET message_id = 'x' WHERE session_id = :id AND seq = 2",
    ],
    [
      ["extra"],
      "INSERT INTO messages (session_id, seq, role, checkpointed) VALUES (:id, 8, 'assistant', 1)",
    ],
    [
      ["extra"],
      "INSERT INTO messages (session_id, seq, role, content) VALUES (:id, 9, 'tool', 'x')",
    ],
    [["different"], "UPDATE messages SET content = 'x' WHERE session_id = :id AND seq = 2"],
    [["different"], "UPDATE messages SET role = 'system' WHERE session_id = :id AND seq = 2"],
    [["different"], "UPDATE messages SET tool_calls = NULL WHERE session_id = :id AND seq = 4"],
    [["different"], "UPDATE messages SET tool_calls = '{' WHERE session_id = :id AND seq = 4"],
    [["different"], "UPDATE messages SET token_count = 9 WHERE session_id = :id AND seq = 6"],
    [["different"], "UPDATE messages SET is_summary = 1 WHERE session_id = :id AND seq = 3"],
    [["different"], "UPDATE messages SET call_id = 'x' WHERE session_id = :id AND seq = 5"],
    [["different"], "UPDATE messages SET call_id = 'x' WHERE session_id = :id AND seq = 4"],
    [["different"], "UPDATE messages SET status = 'failed' WHERE session_id = :id AND seq = 5"],
    [["different"], "UPDATE messages SET status = NULL WHERE session_id = :id AND seq = 5"],
    [["different"], "UPDATE messages SET status = 'ok' WHERE session_id = :id AND seq = 4"],
    [
      ["different"],
      "UPDATE messages SET tool_calls = replace(tool_calls, 'reads', 'runs') WHERE session_id = :id AND seq = 4",
    ],
    [["order"], "order"],
    [["seq"], "UPDATE messages SET seq = 11 WHERE session_id = :id AND seq = 7"],
    [["archived"], "UPDATE messages SET archived = 1 WHERE session_id = :id AND seq = 2"],
    [["archived"], "UPDATE sessions SET cleared_seq = -1 WHERE id = :id"],
    [["pending"], "UPDATE messages SET checkpointed = 0 WHERE session_id = :id AND seq = 3"],
    [["pending"], "UPDATE messages SET checkpointed = 1 WHERE session_id = :id AND seq = 7"],
    [["last_seq"], "UPDATE sessions SET last_seq = 6 WHERE id = :id"],
    [["last_seq"], "UPDATE sessions SET last_seq = 8 WHERE id = :id"],
    [["totals"], "UPDATE sessions SET total_input_tokens = 1 WHERE id = :id"],
    [["totals"], "UPDATE sessions SET total_output_tokens = 0 WHERE id = :id"],
    [["title"], "UPDATE sessions SET title = NULL WHERE id = :id"],
    [["last_message_at"], "UPDATE sessions SET last_message_at = NULL WHERE id = :id"],
    [["thread_suffix"], "UPDATE sessions SET thread_suffix = -1 WHERE id = :id"],
    [["last_seq", "totals"], "DELETE FROM messages WHERE session_id = :id AND seq = 7"],
  ])("[PROOF-3] [PROOF-5] names %j after %s; repair fixes it in one run", async (kinds, sql) => {
    const bench = await benchWithTwoExchanges();
    const before = await bench.dump();
    if (sql === "order") {
      await swap(bench, 2, 4);
    } else {
      await bench.plant(sql);
    }
    expect(await bench.kinds()).toEqual(kinds);

    const repair = await bench.repair();
    expect([...new Set(repair.findings.map(({ kind }) => kind))].sort()).toEqual(kinds);
    expect(await bench.kinds()).toEqual([]);
    const repaired = await bench.dump();
    // only what nobody but the mirror ever had is gone for good
    expect(fieldsFromCheckpoints(repaired)).toEqual(
      sql.startsWith("DELETE") && sql.includes("seq = 7")
        ? fieldsFromCheckpoints({ ...repaired, rows: before.rows.slice(0, 6) })
        : fieldsFromCheckpoints(before),
    );
    expect((await bench.repair()).findings).toEqual([]);
    expect(await bench.dump()).toEqual(repaired);
  });

  it("[PROOF-20] hides nothing because of a clear mark alone", async () => {
    for (const mark of [1, 3, 7, 99]) {
      const bench = await benchWithTwoExchanges();
      const before = await bench.dump();
      await bench.plant("UPDATE sessions SET cleared_seq = ? WHERE id = :id", mark);
      expect(await bench.kinds()).toEqual(["archived"]);
      await bench.repair();
      expect(await bench.kinds()).toEqual([]);
      expect(fieldsFromCheckpoints(await bench.dump())).toEqual(fieldsFromCheckpoints(before));
    }
  });

  it("[PROOF-20] shows nothing that was cleared because of a clear mark alone", async () => {
    const bench = await openBench();
    await bench.exchange("one");
    await bench.exchange("two");
    await bench.freshThread(true);
    await bench.exchange("three");
    const before = await bench.dump();
    for (const mark of [0, 2, 3, 5, 6]) {
      await bench.plant("UPDATE sessions SET cleared_seq = ? WHERE id = :id", mark);
      expect(await bench.kinds()).toEqual(["archived"]);
      await bench.repair();
      expect(fieldsFromCheckpoints(await bench.dump())).toEqual(fieldsFromCheckpoints(before));
    }
  });

  it.each([
    ["title", "title = 'another'"],
    ["last_message_at", "last_message_at = '2001-01-01T00:00:00.000Z'"],
    ["last_message_at", "last_message_at = 'yesterday'"],
  ])("[PROOF-21] finds a wrong %s and corrects it: %s", async (kind, change) => {
    const bench = await benchWithTwoExchanges();
    const before = await bench.dump();
    await bench.plant(`UPDATE sessions SET ${change} WHERE id = :id`);
    expect(await bench.kinds()).toEqual([kind]);
    await bench.repair();
    expect(await bench.kinds()).toEqual([]);
    expect({ ...(await bench.dump()).session, lease_epoch: 0 }).toEqual({
      ...before.session,
      lease_epoch: 0,
    });
  });

  it("[PROOF-21] finds a wrong last_message_at if the last row and a checkpoint have the same time", async () => {
    const bench = await benchWithTwoExchanges();
    const sameTime = "(SELECT ts FROM checkpoints ORDER BY id DESC LIMIT 1)";
    await bench.plant(`UPDATE messages SET ts = ${sameTime} WHERE session_id = :id`);
    await bench.plant(`UPDATE sessions SET last_message_at = ${sameTime} WHERE id = :id`);
    expect(await bench.kinds()).toEqual([]);
    const before = await bench.dump();
    const wrong = "'2999-01-01T00:00:00.000Z'";
    await bench.plant(`UPDATE sessions SET last_message_at = ${wrong} WHERE id = :id`);
    expect(await bench.kinds()).toEqual(["last_message_at"]);
    await bench.repair();
    expect((await bench.dump()).session["last_message_at"]).toBe(before.session["last_message_at"]);
  });

  it("[PROOF-21] finds a message without a time, and gives it that of the one before", async () => {
    const bench = await benchWithTwoExchanges();
    await bench.plant("UPDATE messages SET ts = 'noon' WHERE session_id = :id AND seq = 3");
    expect(await bench.kinds()).toEqual(["ts"]);
    await bench.repair();
    const { rows } = await bench.dump();
    expect(rows[2]?.["ts"]).toBe(rows[1]?.["ts"]);
    expect(await bench.kinds()).toEqual([]);
  });

  it.each([
    ["depth", "depth = 3"],
    ["parent", "parent_call_id = 'call'"],
    ["project_key", "project_key = 'x'"],
    ["project_key", "project_key = '0123456789abcdef'"],
  ])("[PROOF-22] [PROOF-30] finds a wrong %s and leaves it: %s", async (kind, change) => {
    const bench = await benchWithTwoExchanges();
    await bench.plant(`UPDATE sessions SET ${change} WHERE id = :id`);
    expect(await bench.kinds()).toEqual([kind]);
    const before = await bench.dump();
    const { findings, left } = await bench.repair();
    expect(findings).toEqual([]);
    expect(left.map((finding) => finding.kind)).toEqual([kind]);
    expect(await bench.dump()).toEqual(before);
  });

  it.each([
    ["ended_at = '2026-01-01T00:00:00.000Z'", null],
    ["state = 'ended'", expect.any(String)],
    ["state = 'ended', ended_at = 'then'", expect.any(String)],
  ])("[PROOF-31] corrects the end of a session by its state: %s", async (change, end) => {
    const bench = await benchWithTwoExchanges();
    await bench.plant(`UPDATE sessions SET ${change} WHERE id = :id`);
    expect(await bench.kinds()).toEqual(["ended_at"]);
    const { findings, left } = await bench.repair();
    expect(findings.map(({ kind }) => kind)).toEqual(["ended_at"]);
    expect(left).toEqual([]);
    expect(await bench.kinds()).toEqual([]);
    expect((await bench.dump()).session["ended_at"]).toEqual(end);
  });

  it("[PROOF-32] finds the key of another folder if the path is here and has no links", async () => {
    const bench = await benchWithTwoExchanges();
    await bench.plant(
      "UPDATE sessions SET repo_path = '/usr', project_key = '0123456789abcdef' WHERE id = :id",
    );
    expect(await bench.kinds()).toEqual(["project_key"]);
    const { left } = await bench.repair();
    expect(left.map(({ kind }) => kind)).toEqual(["project_key"]);
    await bench.plant(
      `UPDATE sessions SET project_key = '${await projectKeyOf("/usr")}' WHERE id = :id`,
    );
    expect(await bench.kinds()).toEqual([]);
  });

  it.each([
    "UPDATE messages SET ts = '2026-01-01T00:00:00.000Z' WHERE session_id = :id AND seq = 2",
    "UPDATE messages SET content = content || '.' WHERE session_id = :id AND seq = 7",
    "UPDATE messages SET call_id = NULL WHERE session_id = :id",
    "UPDATE sessions SET repo_path = '/a', project_key = '0123456789abcdef' WHERE id = :id",
    "UPDATE sessions SET state = 'ended', ended_at = '2026-01-01T00:00:00.000Z' WHERE id = :id",
  ])("[PROOF-24] reports nothing that cannot be known: %s", async (sql) => {
    const bench = await benchWithTwoExchanges();
    await bench.plant(sql);
    expect(await bench.kinds()).toEqual([]);
  });

  it("[PROOF-25] reports nothing about a folder without a project_key, as older rows have it", async () => {
    const bench = await benchWithTwoExchanges();
    await bench.plant("UPDATE sessions SET repo_path = '/a' WHERE id = :id");
    expect(await bench.kinds()).toEqual([]);
  });

  it("[PROOF-3] names the place of a difference, and nothing of what the messages say", async () => {
    const bench = await benchWithTwoExchanges();
    await bench.plant(
      "UPDATE messages SET content = 'a secret' WHERE session_id = :id AND seq = 2",
    );
    const { findings } = await verifySession(bench.store, bench.id);
    expect(findings).toEqual([
      {
        kind: "different",
        seq: 2,
        message_id: (await bench.dump()).rows[1]?.["message_id"],
        sentence: "Message 2 differs from its checkpoint in content.",
      },
    ]);
  });
});

describe("messages that no checkpoint holds any more", () => {
  it("[PROOF-9] stay in their rows when the agent took them out of the thread", async () => {
    const bench = await openBench();
    await bench.append("forget this");
    await bench.handOver();
    await bench.put(answer("forgotten", [10, 1]));
    await bench.append("keep this");
    await bench.handOver();
    const last = answer("kept", [20, 2]);
    const [, , keep] = (await bench.dump()).rows;
    const kept = new HumanMessage({ id: String(keep?.["message_id"]), content: "keep this" });
    await bench.putAll([kept, last]);
    expect(await bench.kinds()).toEqual([]);
    const before = await bench.dump();

    await bench.plant("UPDATE messages SET content = 'x' WHERE session_id = :id AND seq = 2");
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq = 4");
    expect(await bench.kinds()).toEqual(["different", "missing"]);
    await bench.repair();
    expect(fieldsFromCheckpoints(await bench.dump())).toEqual(fieldsFromCheckpoints(before));
  });

  it("[PROOF-9] stay beside a summary that took their id", async () => {
    const bench = await openBench();
    await bench.append("a long story");
    await bench.handOver();
    await bench.put(answer("indeed", [10, 1]));
    const [first] = (await bench.dump()).rows;
    const summary = new HumanMessage({
      id: String(first?.["message_id"]),
      content: "somebody told a story",
      additional_kwargs: { lc_source: "summarization" },
    });
    await bench.putAll([summary, answer("and now?", [5, 1])]);
    expect((await bench.dump()).rows.map(({ content }) => content)).toEqual([
      "a long story",
      "indeed",
      "somebody told a story",
      "and now?",
    ]);
    expect(await bench.kinds()).toEqual([]);
  });

  it("[PROOF-2] may come before a summary that is stored later than it appears in the thread", async () => {
    const bench = await benchWithTwoExchanges();
    const summary = new HumanMessage({
      id: "summary",
      content: "they talked",
      additional_kwargs: { lc_source: "summarization" },
    });
    const kept = answer("kept", [1, 1]);
    await bench.put(kept);
    await bench.putAll([summary, kept, answer("and on", [2, 2])]);
    expect((await bench.dump()).rows.map(({ is_summary }) => is_summary).join("")).toBe(
      "0000000010",
    );
    expect(await bench.kinds()).toEqual([]);
    const before = await bench.dump();
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq IN (2, 9)");
    expect((await bench.repair()).rows).toMatchObject({ added: 1, removed: 0 });
    expect(await bench.kinds()).toEqual([]);
    // what left the thread and the mirror nobody can bring back
    const { rows } = await bench.dump();
    const ids = new Set(rows.map(({ message_id }) => message_id));
    expect(before.rows.filter(({ message_id }) => !ids.has(message_id))).toEqual([before.rows[1]]);
  });

  it("[PROOF-8] are not reported as extra if the checkpoints of a thread are missing", async () => {
    const bench = await benchWithTwoExchanges();
    await bench.plant("DELETE FROM threads");
    const before = await bench.dump();
    expect(await bench.kinds()).toContain("checkpoint_missing");
    await expect(bench.repair()).rejects.toMatchObject({ code: "database_corrupt" });
    expect(fieldsFromCheckpoints(await bench.dump())).toEqual(fieldsFromCheckpoints(before));
    expect(await bench.kinds()).toContain("checkpoint_missing");
  });

  it("[PROOF-7] are not repaired if a checkpoint is damaged; verify reports the checkpoint", async () => {
    for (const damage of [
      "DELETE FROM checkpoint_bodies WHERE id = (SELECT min(body) FROM checkpoint_list_items)",
      "UPDATE checkpoint_bodies SET body = 'no JSON' WHERE id = (SELECT max(body) FROM checkpoint_list_items)",
      `UPDATE checkpoint_bodies SET body = replace(body, 'first', 'last') WHERE body LIKE '%first question%'`,
      "DELETE FROM checkpoint_list_items WHERE position = 1",
      "DELETE FROM checkpoint_lists",
      "UPDATE checkpoints SET channels = '{'",
      "UPDATE checkpoints SET channels = 'null'",
      `UPDATE checkpoints SET channels = '{"messages":[1,[99]]}'`,
      "UPDATE checkpoints SET shape = 999 WHERE id = (SELECT max(id) FROM checkpoints)",
      "DELETE FROM checkpoint_bodies WHERE body LIKE '{%'",
    ]) {
      const bench = await benchWithTwoExchanges();
      await bench.plant("UPDATE messages SET content = 'x' WHERE session_id = :id AND seq = 2");
      await bench.plant(damage);
      const before = await bench.dump();
      expect(await bench.kinds(), damage).toEqual(["checkpoint_damaged"]);
      await expect(bench.repair()).rejects.toMatchObject({ code: "database_corrupt" });
      expect(fieldsFromCheckpoints(await bench.dump())).toEqual(fieldsFromCheckpoints(before));
    }
  });
});

it("[PROOF-4] are read in one transaction, however busy the session is", async () => {
  const bench = await openBench();
  await bench.append("question");
  await bench.handOver();
  let done = false;
  const busy = (async () => {
    for (let round = 0; round < 15; round += 1) {
      await bench.append(`question ${round}`);
      await bench.handOver();
      await bench.put(answer(`answer ${round}`, [round, 1]));
    }
    done = true;
  })();
  let looks = 0;
  while (!done) {
    const { findings } = await verifySession(bench.store, bench.id);
    expect(findings).toEqual([]);
    looks += 1;
  }
  await busy;
  expect(looks).toBeGreaterThan(1);
});
