import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { detailOf, rowsOf, sessionsOf } from "../helpers/sessions/seed.ts";

describe("-p", () => {
  it("[CLI-32] stores the user's row before the model is asked, and the assistant's after its answer", async () => {
    const rowsWhenAsked: unknown[] = [];
    const server = await startModelServer({
      answer: () => {
        const database = new DatabaseSync(home.database, { readOnly: true });
        rowsWhenAsked.push(database.prepare("SELECT seq, role, content FROM messages").all());
        database.close();
        return { content: "the answer" };
      },
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    expect(await home.call(["-p", "the question"])).toMatchObject({
      code: 0,
      stdout: "the answer\n",
    });
    expect(rowsWhenAsked).toEqual([[{ seq: 1, role: "user", content: "the question" }]]);
    const [session] = await sessionsOf(home);
    expect(session).toMatchObject({ last_seq: 2, activity: "idle" });
  });

  it("[CLI-33] [CLI-34] [CLI-118] reads - from standard input unchanged; --json prints one document only", async () => {
    const content = "two\r\nlines\twith “quotes”, 🎉 and \u001b[31m\n";
    const server = await startModelServer({
      answer: () => ({
        content: "red \u001b[31m\r\nline",
        usage: { prompt_tokens: 12, completion_tokens: 3 },
      }),
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const { code, stdout, stderr } = await home.run(["-p", "-", "--json"], {
      input: `${content}\n`,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.endsWith("}\n")).toBe(true);
    const document = JSON.parse(stdout) as Record<string, unknown> & { session_id: string };
    const detail = await detailOf(home, document.session_id);
    expect(document).toEqual({
      session_id: detail.id,
      thread_id: `${detail.id}:0`,
      persona_name: "assistant",
      model: "openai:test",
      answer: "red \u001b[31m\r\nline",
      stopped: false,
      usage: {
        calls: 1,
        unpriced_calls: 1,
        input_tokens: 12,
        cache_read_tokens: 0,
        cache_write_5m_tokens: null,
        cache_write_1h_tokens: null,
        output_tokens: 3,
        reasoning_tokens: 0,
      },
      cost_micros: null,
      total_input_tokens: 12,
      total_output_tokens: 3,
      last_seq: 2,
      messages: detail.messages,
    });
    expect(detail.messages.map(({ content }) => content)).toEqual([
      content,
      "red \u001b[31m\r\nline",
    ]);
    // on a screen the same answer moves no cursor and changes no colour
    const shown = await home.call(["--session", detail.id, "-p", "again"]);
    expect(shown.stdout).toBe("red ␛[31m\nline\n");
  });

  it("[CLI-103] shows 100 characters of a tool's name, and of the reason why it failed", async () => {
    const name = "n".repeat(100_000);
    const server = await startModelServer({
      answer: (_, index) =>
        index === 0
          ? { toolCalls: [{ name, arguments: "{}", id: "call_1" }] }
          : { content: "done" },
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const { stdout, stderr } = await home.call(["-p", "look"]);
    expect(stdout).toBe("done\n");
    expect(stderr.split("\n")[0]).toBe(`· ${"n".repeat(100)}… {}`);
    expect(stderr.length).toBeLessThan(1000);
  });

  it("[CLI-54] stores tool calls and their results, and a sub-agent as a separate session", async () => {
    const server = await startModelServer({
      answer: (_, index) =>
        [
          { toolCalls: [{ name: "read_file", arguments: '{"path":"notes.txt"}', id: "call_1" }] },
          {
            toolCalls: [
              {
                name: "delegate",
                arguments: '{"persona":"planner","task":"Plan it"}',
                id: "call_2",
              },
            ],
          },
          { content: "the plan" },
        ][index] ?? { content: "done" },
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    writeFileSync(join(home.project, "notes.txt"), "remember the milk\n");
    const { code, stdout, stderr } = await home.call(["-p", "look"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
    const [child, parent] = (await sessionsOf(home)).toSorted((a) =>
      a.parent_session_id === null ? 1 : -1,
    );
    expect(stderr.split("\n")).toEqual([
      "· read_file notes.txt",
      "· delegate planner: Plan it",
      `· planner works in session ${child?.id}`,
      "· delegate returned: the plan",
      `Resume with: reprise --session ${parent?.id}`,
      "",
    ]);
    expect(parent).toMatchObject({ depth: 0, parent_session_id: null });
    expect(child).toMatchObject({
      depth: 1,
      parent_session_id: parent?.id,
      persona_name: "planner",
      project_key: parent?.project_key,
    });
    const rows = await detailOf(home, parent?.id ?? "");
    expect(rowsOf(rows)).toEqual([
      [1, "user", "look"],
      [2, "assistant", ""],
      [3, "tool", expect.stringContaining("remember the milk")],
      [4, "assistant", ""],
      [5, "tool", "the plan"],
      [6, "assistant", "done"],
    ]);
    expect(rows.messages.map(({ tool_calls }) => tool_calls)).toEqual([
      null,
      [
        {
          id: "call_1",
          name: "read_file",
          args: { path: "notes.txt" },
          effect: "reads",
          subject: "notes.txt",
        },
      ],
      null,
      [
        {
          id: expect.any(String),
          name: "delegate",
          args: { persona: "planner", task: "Plan it" },
          effect: "asks",
          subject: "planner: Plan it",
        },
      ],
      null,
      null,
    ]);
    expect(rowsOf(await detailOf(home, child?.id ?? ""))).toEqual([
      [1, "user", "Plan it"],
      [2, "assistant", "the plan"],
    ]);
    const shown = await home.call(["sessions", "show", parent?.id ?? ""]);
    expect(shown.stdout).toMatch(/^ {2}child {5}[0-9a-f-]{36} \(active, idle\) planner$/m);
    expect(shown.stdout).toContain('\n· read_file {"path":"notes.txt"}\n');
  });

  it("[CLI-36] refuses what is empty, larger than 1 MiB, or could not be stored, and stores nothing", async () => {
    const home = freshHome();
    const mebibyte = 1024 * 1024;
    for (const [args, input, name] of [
      [["-p", ""], "", "invalid_usage"],
      [["-p", "-"], " \n", "invalid_usage"],
      [["-p", "-"], `${"é".repeat(mebibyte / 2)}x\n`, "body_too_large"],
      [["-p", "-"], "x".repeat(3 * mebibyte), "body_too_large"],
      [["-p", "-"], "with a NUL: \0", "invalid_request"],
      [[], "with a NUL: \0\n", "invalid_request"],
      [["-p", "-"], Buffer.from("caf\xe9", "latin1"), "invalid_request"],
      [[], Buffer.from("caf\xe9\n", "latin1"), "invalid_request"],
    ] as const) {
      const refused = await home.call(args, { input });
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toMatch(new RegExp(`^reprise: .+ \\[${name}\\]\\n$`));
    }
    expect(await sessionsOf(home)).toEqual([]);
  });

  it("[CLI-36] accepts UTF-8 lines unchanged, with separators that only Unicode knows", async () => {
    const home = freshHome();
    const content = "one\u2028line \u{1f469}\u200d\u{1f680}";
    const { code } = await home.call([], { input: `${content}\n` });
    expect(code).toBe(0);
    const [session] = await sessionsOf(home);
    expect(session).toMatchObject({ title: content, last_seq: 2 });
  });

  it("[CLI-36] accepts exactly 1 MiB", async () => {
    const home = freshHome();
    const content = "é".repeat(512 * 1024);
    const document = await home.json<{ messages: { content: string }[] }>(["-p", "-", "--json"], {
      input: content,
    });
    expect(document.messages[0]?.content === content).toBe(true);
  });
});
