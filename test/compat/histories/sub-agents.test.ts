import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { placeHistory } from "../../helpers/foreign-histories.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

interface Imported {
  readonly sessions: readonly {
    readonly id: string;
    readonly messages: number;
    readonly imported_id: string;
    readonly parent_session_id: string | null;
    readonly repo_path: string | null;
    readonly title: string;
  }[];
  readonly problems: readonly { readonly source: string; readonly message: string }[];
}

/** Another database for the same histories. */
function anew({ home }: Home): Home {
  return freshHome({ HOME: home, REPRISE_DATABASE: join(temporaryFolder(), "reprise.db") });
}

function importAll(home: Home, program: string): Promise<Imported> {
  return home.json<Imported>(["sessions", "import", "--from", program, "--all", "--json"]);
}

/** The file of the sub-agent of a fixture. */
function childOf(program: "codex" | "gemini", file: string): string {
  const names = readdirSync(dirname(file), { recursive: true, encoding: "utf8" });
  const child = names.find((name) => name.endsWith(".jsonl") && join(dirname(file), name) !== file);
  return join(dirname(file), child ?? program);
}

it.each(["codex", "gemini"] as const)(
  "[FOREIGN-9] [FOREIGN-45] [FOREIGN-47] sub-agents of %s are below the call that began them, or below the parent alone",
  async (program) => {
    const home = freshHome();
    const file = placeHistory(program, home);
    const { sessions } = await importAll(home, program);
    const [root, child] = sessions;
    expect(sessions).toHaveLength(2);
    expect(child).toMatchObject({
      parent_session_id: root?.id,
      title: "HELPER: count the lines of hello.txt.",
      repo_path: home.project,
    });
    const exported = await home.call(["sessions", "export", root?.id ?? ""]);
    expect(exported.stdout).toMatch(/"parent_call_id":"\w/);

    const lines = readFileSync(file, "utf8").split("\n");
    const isLink = (line: string): boolean => /"agentId"|agent_id/.test(line);
    expect(lines.some(isLink)).toBe(true);
    writeFileSync(file, lines.filter((line) => !isLink(line)).join("\n"));
    const other = anew(home);
    const unlinked = (await importAll(other, program)).sessions;
    expect(unlinked.map(({ parent_session_id }) => parent_session_id)).toEqual([null, root?.id]);
    const again = await other.call(["sessions", "export", root?.id ?? ""]);
    expect(again.stdout).not.toMatch(/"parent_call_id":"/);
  },
);

it.each(["codex", "gemini"] as const)(
  "[FOREIGN-46] a damaged file of a sub-agent of %s is reported, and the others are imported",
  async (program) => {
    const home = freshHome();
    const child = childOf(program, placeHistory(program, home));
    const [first = ""] = readFileSync(child, "utf8").split("\n");
    writeFileSync(child, `${first}\n{"broken`);
    const { sessions, problems } = await importAll(home, program);
    expect(sessions).toHaveLength(1);
    expect(problems).toMatchObject([
      { source: child, message: expect.stringMatching(/^is the file of a sub-agent/) },
    ]);
  },
);

it("[FOREIGN-45] a sub-agent of Codex without its parent, or in a circle, is a session for itself", async () => {
  const home = freshHome();
  const file = placeHistory("codex", home);
  const child = childOf("codex", file);
  const [first = ""] = readFileSync(file, "utf8").split("\n");
  const [below = ""] = readFileSync(child, "utf8").split("\n");
  const idOf = (line: string): string => /"id":"([^"]+)"/.exec(line)?.[1] ?? "";
  const day = join(dirname(dirname(file)), "28");
  mkdirSync(day);
  const moved = join(day, "rollout-moved.jsonl");
  copyFileSync(child, moved);
  rmSync(child);
  expect((await importAll(anew(home), "codex")).sessions).toHaveLength(2);

  const circle = `"id":"${idOf(first)}","parent_thread_id":"${idOf(below)}"`;
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(`"id":"${idOf(first)}"`, circle));
  const both = (await importAll(anew(home), "codex")).sessions;
  expect(new Set(both.map(({ title }) => title)).size).toBe(2);

  rmSync(file);
  const alone = (await importAll(anew(home), "codex")).sessions;
  expect(alone).toMatchObject([
    { parent_session_id: null, title: "HELPER: count the lines of hello.txt." },
  ]);
});
