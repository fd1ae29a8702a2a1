import { describe, expect, it, onTestFinished } from "vitest";

import { PROGRAMS, type Program } from "../../../src/compat/histories/history.ts";
import { createDatabase, type EmptyDatabase } from "../../helpers/database.ts";
import { placeHistory } from "../../helpers/foreign-histories.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";
import { freshHome } from "../../helpers/reprise.ts";

interface Imported {
  readonly sessions: readonly {
    readonly id: string;
    readonly outcome: string;
    readonly messages: number;
    readonly parent_session_id: string | null;
  }[];
}

const MODELS = [
  ["anthropic", "anthropic:claude-sonnet-5-5"],
  ["openai", "openai:gpt-5.2"],
  ["ollama", "ollama:test"],
] as const;

/** Roles of the fixture, without the summary that four of the programs were made to write. */
const CALLED = ["user", ...Array<string>(3).fill("assistant tool"), "assistant"].join(" ");

describe.each(PROGRAMS)("a history that %s made", (program: Program) => {
  it.each(MODELS)(
    "[FOREIGN-1] [FOREIGN-2] [FOREIGN-3] [FOREIGN-4] [FOREIGN-12] lists, shows, verifies and continues with %s",
    async (name, model) => {
      const provider = await startProvider(name, () => [text("You changed hello.txt.")]);
      onTestFinished(() => provider[Symbol.asyncDispose]());
      const { location } = await freshDatabase();
      const home = freshHome({ ...provider.env, REPRISE_MODEL: model, REPRISE_DATABASE: location });
      const file = placeHistory(program, home);
      const from = ["sessions", "import", "--from", program];
      const { sessions } = await home.json<Imported>([...from, file, "--json"]);
      const [root] = sessions;
      const id = root?.id ?? "";

      const shown = await home.json<Shown>(["sessions", "show", id, "--json"]);
      expect(shown.title).toMatch(/^"?Read hello.txt and add a second greeting/);
      expect(shown.repo_path).toBe(home.project);
      expect(shown.created_at < "2026-11-28").toBe(true);
      expect(shown.messages.map(({ role }) => role).join(" ")).toContain(CALLED);
      expect(shown.messages.some(({ content }) => content.includes("two greetings: “Hello"))).toBe(
        true,
      );

      const next = await home.call(["--session", id, "-p", "Which file did you change?"]);
      expect([next.code, provider.refusals()]).toEqual([0, []]);
      expect(next.stdout).toContain("You changed hello.txt.");
      const sent = JSON.stringify(provider.requests.at(-1));
      expect(sent).toContain("Which file did you change?");
      // its signatures and encrypted parts are bound to requests of the program
      expect(sent).not.toContain("I read it first.");
      expect((await home.call(["sessions", "verify"])).code).toBe(0);
    },
  );
});

/** On the engine of this run. */
async function freshDatabase(): Promise<EmptyDatabase> {
  const database = await createDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

interface Shown {
  readonly title: string;
  readonly repo_path: string;
  readonly created_at: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

it.each(["claude-code", "codex", "gemini", "opencode"] as const)(
  "[FOREIGN-9] sub-agents of %s are child sessions of the call that began them",
  async (program) => {
    const home = freshHome({ REPRISE_DATABASE: (await freshDatabase()).location });
    const file = placeHistory(program, home);
    const from = ["sessions", "import", "--from", program, file, "--json"];
    const { sessions } = await home.json<Imported>(from);
    expect(sessions.map(({ parent_session_id }) => parent_session_id)).toEqual([
      null,
      sessions[0]?.id,
    ]);
    const exported = await home.call(["sessions", "export", sessions[0]?.id ?? ""]);
    expect(exported.stdout).toMatch(/"parent_call_id":"\w/);
  },
);

it.each(["claude-code", "codex", "gemini", "pi"] as const)(
  "[FOREIGN-8] a compaction of %s is a summary, and the model is sent it in place of what it covers",
  async (program) => {
    const provider = await startProvider("anthropic", () => [text("Good.")]);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const home = freshHome({ ...provider.env, REPRISE_MODEL: "anthropic:claude-sonnet-5-5" });
    const file = placeHistory(program, home);
    const imported = await home.json<Imported>([
      "sessions",
      "import",
      "--from",
      program,
      file,
      "--json",
    ]);
    const id = imported.sessions[0]?.id ?? "";
    await home.call(["--session", id, "-p", "Good?"]);
    const sent = JSON.stringify(provider.requests.at(-1));
    // pi kept all messages, because there were few of them
    expect(sent.includes("two greetings")).toBe(program === "pi");
    expect(sent).toContain("Summary: hello.txt");
    const shown = await home.call(["sessions", "show", id]);
    expect(shown.stdout).toContain("two greetings");
  },
);
