import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { openEditor } from "../../../../src/cli/terminal/editor/open-editor.ts";
import { contextOf } from "../../../helpers/call-program.ts";
import { temporaryFolder } from "../../../helpers/temp.ts";
import { plainTheme } from "../plain-theme.ts";

async function openIn(home: string, folder: string) {
  const { cli } = contextOf([], {
    script: "reprise",
    cwd: folder,
    env: { HOME: home, OPENAI_API_KEY: "sk-0123456789", EDITOR: "true" },
  });
  const planned = { model: null, persona_name: "default", repo_path: folder };
  const sent: string[] = [];
  const { editor, history } = await openEditor({
    talk: { cli, conversation: { planned: () => planned } },
    screen: { changed: () => undefined, outside: (work) => work() },
    theme: plainTheme,
    secrets: async () => [],
    leaving: new AbortController().signal,
    on: { submit: ({ text }) => sent.push(text), note: () => undefined },
  });
  await history.written();
  const type = (text: string): void => {
    for (const character of text) {
      editor.key(character);
    }
  };
  /** The rows below the message, once there are any. */
  const completions = async (): Promise<string[]> => {
    await expect.poll(() => editor.isCompleting()).toBe(true);
    return editor.rows(60, 24).slice(1);
  };
  return { editor, history, sent, type, completions };
}

describe("the editor of a conversation", () => {
  it("[TERM-33] has the history of its folder, and of no other one", async () => {
    const [home, folder] = [temporaryFolder(), temporaryFolder()];
    const first = await openIn(home, folder);
    first.type("hello\r");
    expect(first.sent).toEqual(["hello"]);
    await first.history.written();
    const again = await openIn(home, folder);
    again.editor.key("\u001b[A");
    expect(again.editor.message().text).toBe("hello");
    const other = await openIn(home, temporaryFolder());
    expect(other.editor.key("\u001b[A")).toBe(false);
  });

  it("[TERM-35] offers models, personas and modes", async () => {
    const { editor, type, completions } = await openIn(temporaryFolder(), temporaryFolder());
    type("/model d");
    const fresh = await completions();
    expect(fresh[0]).toMatch(/^› demo:echo /);
    expect(fresh.at(-1)).toBe("  Enter: a fresh context. /switch keeps the conversation.");
    editor.clear();
    type("/switch d");
    const kept = await completions();
    expect(kept[0]).toMatch(/^› demo:echo /);
    expect(kept.at(-1)).toBe("  Enter keeps the conversation. /model: a fresh context.");
    editor.clear();
    type("/agent ");
    expect((await completions()).join("\n")).toContain("  planner ");
    editor.clear();
    type("/permission a");
    expect(await completions()).toEqual([
      "› ask           each change and command asks",
      "  auto          commands outside a sandbox ask",
      "  all           nothing asks but changes of protected files",
      "  plan          nothing is changed",
    ]);
  });

  it("[TERM-37] offers the files of its folder", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src/main.ts"), "");
    const { type, completions } = await openIn(temporaryFolder(), folder);
    type("@ma");
    expect(await completions()).toEqual(["› src/main.ts"]);
  });
});
