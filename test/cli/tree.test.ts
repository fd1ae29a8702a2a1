import { expect, it } from "vitest";

import { forkSession } from "../../src/store/checkpoints/forks/fork-session.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { projectKeyOf } from "../../src/store/project-key.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../src/store/records/sessions/delete-tree.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { openScreen } from "../helpers/screen.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";

const ORIGIN = idLike("aaaaaa1");

interface Made {
  readonly home: Home;
  /** Forks at message 1 and 2, and one of the first. */
  readonly forks: readonly string[];
}

async function family(): Promise<Made> {
  const home = freshHome();
  const project_key = await projectKeyOf(home.project);
  await seed(
    home,
    { id: ORIGIN, repo_path: home.project, project_key, messages: ["Fix the parser", "second"] },
    { id: idLike("bbbbbb1"), project_key, messages: ["alone"] },
  );
  await using store = await openSqliteStore({ path: home.database });
  await store.write(createSession, { id: idLike("cccccc1"), parent_session_id: ORIGIN });
  const fork = async (session_id: string, at_seq: number, content: string): Promise<string> => {
    const { id } = await store.write(forkSession, { session_id, at_seq });
    await store.write(appendUserMessage, { reference: id, content });
    return id;
  };
  const first = await fork(ORIGIN, 1, "with a stack\n\u001b[2J\u202e");
  const second = await fork(
    ORIGIN,
    2,
    "日本語のコメントを英語に訳して 🎉 and keep the code as it was before",
  );
  return { home, forks: [first, second, await fork(first, 2, "and shorter")] };
}

it("[CLI-420] [CLI-421] [TERM-170] draws origin, forks and sub-agents as one tree, for a pipe and in a narrow terminal", async () => {
  const { home, forks } = await family();
  for (const reference of [[], [forks[2] ?? ""], ["cccccc"]]) {
    const { stdout } = await home.call(["sessions", "tree", ...reference]);
    const [heading, ...rows] = stdout.trimEnd().split("\n");
    expect(heading).toMatch(/^ID +STATE +ACTIVE +MESSAGES +TREE$/);
    expect(rows.map((row) => row.replace(/^\S+ +\S+ +.*? {2}\d+ +/, ""))).toEqual([
      "Fix the parser",
      "├ sub-agent: (no message yet)",
      "├ fork at 1: with a stack ␛[2J<U+202E>",
      "│ └ fork at 2: and shorter",
      "└ fork at 2: 日本語のコメントを英語に訳して 🎉 and keep the code as it was before",
    ]);
  }
  for (const columns of [80, 40, 12]) {
    const screen = openScreen(home, "reprise sessions tree aaaaaa", { columns });
    expect(await screen.finished).toBe(0);
    const rows = screen.everything().filter((row) => row !== "");
    expect(rows).toHaveLength(6);
    expect(screen.written()).not.toContain("\u001b[2J");
  }
  const json = await home.json<{ id: string }[][]>(["sessions", "tree", "--json"]);
  expect(json.map((tree) => tree.map(({ id }) => id))).toEqual([
    [ORIGIN, idLike("cccccc1"), forks[0], forks[2], forks[1]],
  ]);
  const elsewhere = await home.call(["sessions", "tree"], { cwd: home.home });
  expect(elsewhere.stderr).toContain("No session of this folder has forks or sub-agents.");
});

it("[CLI-420] [CLI-421] a fork without its origin begins a tree, and the rest is limited", async () => {
  const { home, forks } = await family();
  {
    await using store = await openSqliteStore({ path: home.database });
    await store.write(deleteSessionTree, { id: ORIGIN });
    await store.write(forkSession, { session_id: idLike("bbbbbb1") });
  }
  const { stdout } = await home.call(["sessions", "tree", forks[0] ?? ""]);
  expect(stdout).toContain(" fork at 1: with a stack");
  expect(stdout).toContain(" └ fork at 2: and shorter");
  const limited = await home.call(["sessions", "tree", "--limit", "1"]);
  expect(limited.stdout.split("\n").filter((row) => /^\w{8}/.test(row))).toHaveLength(2);
  expect(limited.stderr).toContain("There are more; --limit all shows every one.");
  const all = await home.json<unknown[]>(["sessions", "tree", "--limit", "all", "--json"]);
  expect(all).toHaveLength(2);
});
