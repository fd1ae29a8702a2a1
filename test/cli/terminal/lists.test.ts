import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { beforeEach, describe, expect, it } from "vitest";

import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { projectKeyOf } from "../../../src/store/project-key.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { expectScreenFile } from "../../helpers/screen-file.ts";
import { idLike, seed } from "../../helpers/sessions/seed.ts";

const HOUR = 3_600_000;

/** Sessions of each state in several folders, one with sub-agents. */
async function someSessions(home: Home): Promise<void> {
  const here = { repo_path: home.project, project_key: await projectKeyOf(home.project) };
  const inHome = join(home.home, "code/shop/services/orders-and-payments");
  await seed(
    home,
    {
      id: idLike("1a2b3c4d"),
      ...here,
      model: "anthropic:claude-sonnet-4-5",
      messages: ["Fix the failing tests of the parser and say why"],
    },
    { id: idLike("2b3c4d5e"), ...here, model: "openai:gpt-5.2", messages: ["Add a release note"] },
    {
      id: idLike("3c4d5e6f"),
      repo_path: inHome,
      project_key: "0123456789abcdef",
      model: "ollama:hf.co/unsloth/Qwen3-Coder-30B-A3B-Instruct",
      messages: ["日本語のコメントを英語に訳して 🎉 and keep the code"],
    },
    { id: idLike("4d5e6f70"), repo_path: "/srv/app", messages: ["first title"], ended: true },
    { id: idLike("5e6f7081"), messages: [] },
  );
  await using store = await openSqliteStore({ path: home.database });
  const parent_session_id = idLike("1a2b3c4d");
  const child = await store.write(createSession, { id: idLike("6f708192"), parent_session_id });
  await store.write(createSession, { id: idLike("708192a3"), parent_session_id: child.id });
  const failed = { exchange_open: 1 };
  const changes: Readonly<Record<string, object>> = {
    "1a2b3c4d": { total_input_tokens: 184_300, total_output_tokens: 2310 },
    "2b3c4d5e": { last_message_at: ago(3.5 * HOUR), total_input_tokens: 999 },
    "3c4d5e6f": {
      last_message_at: ago(12.5 * 24 * HOUR),
      total_input_tokens: 3120,
      ...failed,
      failure_code: "model_refused",
      failure_sentence: "The model refused the request.",
    },
    "4d5e6f70": { last_message_at: "2020-05-05T12:00:00.000Z", name: "The app, \u001b[31mnamed" },
    "5e6f7081": { created_at: "2020-01-05T12:00:00.000Z" },
  };
  await store.write(async ({ db }) => {
    for (const [start, set] of Object.entries(changes)) {
      await db.updateTable("sessions").set(set).where("id", "=", idLike(start)).execute();
    }
  }, null);
}

function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

describe("sessions list in a terminal", () => {
  let home: Home;
  beforeEach(async () => {
    home = freshHome();
    await someSessions(home);
  });

  it("[TERM-60] is a table as wide as the terminal, at 80 and at 40 columns", async () => {
    for (const columns of [80, 40]) {
      const screen = openScreen(home, "reprise sessions list", { columns });
      expect(await screen.finished).toBe(0);
      expectScreenFile(`list-${columns}`, screen.everything());
      // NO_COLOR is set for all tests
      expect(screen.written()).not.toContain("\u001b");
    }
    const coloured = openScreen(home, "reprise sessions list", { env: { NO_COLOR: undefined } });
    await coloured.finished;
    expectScreenFile("list-80", coloured.everything());
    expect(coloured.written()).toContain("mfailed\u001b[39m");
  });

  it("[TERM-60] [TERM-61] has no row that is wider than the terminal, however narrow it is", async () => {
    const list = async (columns: number, ...args: string[]) => {
      const options = { terminal: true, columns };
      const { code, stdout } = await home.call(["sessions", "list", ...args], options);
      expect(code).toBe(0);
      return stdout.trimEnd().split("\n");
    };
    for (const columns of [1, 7, 20, 33, 50, 64, 100]) {
      const rows = await list(columns, "--all");
      expect(rows).toHaveLength(8);
      // the emulator of the other test knows the width of every character, this one that of most
      const widths = rows.map((row) => row.replace(/[\u3000-\u9fff]|🎉/gu, "xx").length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
    }
    const wide = await list(200);
    expect(wide[0]).toMatch(/^ID +TITLE +STATE +USED +FOLDER +MODEL +TOKENS +MESSAGES$/);
    expect(wide).toContainEqual(
      expect.stringMatching(/The app, ␛\[31mnamed +ended +May 2020 +\/srv\/app +\d +1$/),
    );
    expect(wide.join("\n")).toContain("~/code/shop/services/orders-and-payments");
    const trees = (await list(200, "--all")).map((row) => row.slice(0, 30).trimEnd());
    const root = trees.findIndex((row) => row.startsWith("1a2b3c4d  Fix the"));
    expect(trees.slice(root + 1, root + 3)).toEqual([
      "6f708192  └ (no message yet)",
      "708192a3    └ (no message yet)",
    ]);
    await using store = await openSqliteStore({ path: home.database });
    // two sessions that work for each other
    await store.write(
      ({ db }) =>
        db
          .updateTable("sessions")
          .set({ parent_session_id: idLike("708192a3") })
          .where("id", "=", idLike("6f708192"))
          .execute(),
      null,
    );
    expect(await list(200, "--all")).toHaveLength(8);
  });

  it("[TERM-25] [TERM-60] has the theme of the config, and colours without one that can be read", async () => {
    const config = join(home.home, ".config/reprise/config.jsonc");
    mkdirSync(dirname(config), { recursive: true });
    const list = async (text: string): Promise<string> => {
      writeFileSync(config, text);
      const env = { NO_COLOR: undefined, TERM: "xterm" };
      const { code, stdout } = await home.call(["sessions", "list"], { terminal: true, env });
      expect(code).toBe(0);
      return stdout;
    };
    expect(await list("{ broken")).toContain("\u001b[1m");
    expect(await list('{ "theme": "none" }')).not.toContain("\u001b");
  });
});
