import { expect, it } from "vitest";

import { CALL_STATUSES } from "../../../src/core/calls.ts";
import type { FileChangeInfo } from "../../../src/core/schemas/file-change-schemas.ts";
import type { ExchangeEvent, ExchangeResult } from "../../../src/exchange/events.ts";
import { createHighlighter } from "../../../src/cli/terminal/markdown/highlight.ts";
import { createMarkdownStream } from "../../../src/cli/terminal/markdown.ts";
import { createExchangeView } from "../../../src/cli/terminal/rows/exchange-view.ts";
import { visibleWidth } from "../../../src/cli/terminal/pi/text.ts";
import { createTheme } from "../../../src/cli/terminal/text/themes.ts";
import { TOOL_EFFECTS } from "../../../src/core/tools.ts";
import { seededRandom } from "../../helpers/random.ts";

const TEXTS = [
  "",
  "src/a.ts",
  "漢字漢字漢字",
  "👩‍👩‍👧👩‍👩‍👧 e\u0301",
  "\u001b[2J\u001b]8;;x\u0007\u009b",
  "\u202eabc\u0000",
  "a\nb\r\nc\r",
  "\t\tx",
  "x".repeat(300),
  "word ".repeat(100),
  "✓ done [1]",
  "\ud800",
  "```ts\nlet a = 1;\n",
  "| a | b |\n|--|--|\n| 1 | 2 |\n",
  "- x\n",
];
const NAMES = [
  "read_file",
  "search_files",
  "write_file",
  "apply_patch",
  "run_command",
  "delegate",
  "ask_user",
  "hand_in_plan",
  "my_tool",
  "__proto__",
  "\u001b[2J",
  "名前".repeat(40),
];
const FIELDS = ["path", "line", "task", "persona", "pattern", "text", "question", "argv", "edits"];
const SESSIONS = ["root", "child", "grandchild"];
const IDS = ["1", "2", "3", "4"];
const WIDTHS = [20, 33, 40, 80, 120];

it("[TERM-10] [TERM-19] keeps every row clean and as wide as the terminal at most, whatever comes", async () => {
  const random = seededRandom("random exchange");
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const theme = createTheme({ env: { TERM: "xterm-256color" } });
  const highlighter = createHighlighter(theme);
  let width = 80;
  let ms = 0;
  const problems: string[] = [];
  const check = (rows: readonly string[]): void => {
    for (const row of rows) {
      // oxlint-disable-next-line no-control-regex -- the sequences of styles and links
      const text = row.replace(/\u001b\[[\d;]*m|\u001b\]8;;[^\u001b\u0007]*\u001b\\/g, "");
      // oxlint-disable-next-line no-control-regex -- what must not be there
      if (/[\u0000-\u001f\u007f-\u009f\u202e]/.test(text) || visibleWidth(text) > width) {
        problems.push(`${width}: ${JSON.stringify(row)}`);
      }
    }
  };
  const view = createExchangeView({
    theme,
    width: () => width,
    commit: check,
    changed: () => undefined,
    now: () => ms,
    markdown: () => createMarkdownStream({ theme, highlighter, width: () => width }),
    changes: async ({ call_ids }) => {
      if (random() < 0.2) {
        throw new Error("no diff");
      }
      const diff = `--- a\n+++ a\n@@ -1,2 +1,2 @@\n ${pick(TEXTS)}\n-${pick(TEXTS)}\n+${pick(TEXTS)}`;
      const change: FileChangeInfo = {
        path: pick(TEXTS),
        kind: "changed",
        tools: [],
        calls: [],
        added: 1,
        removed: null,
        diff,
        reason: null,
        undone: false,
      };
      return new Map(call_ids.map((id) => [id, [change]]));
    },
    every: () => () => undefined,
  });
  const args = (): unknown =>
    random() < 0.1
      ? pick([null, undefined, "text", 3, []])
      : Object.fromEntries(
          [1, 2, 3].map(() => [pick(FIELDS), pick([...TEXTS, null, ["a"], [{}]])]),
        );
  const event = (): ExchangeEvent => {
    const of = { exchange_id: "e", session_id: pick(["root", ...SESSIONS]) };
    const [call_id, message_id, name] = [pick(IDS), pick(IDS), pick(NAMES)];
    const content = pick(["exit code 1 after 1.0 s\n\n", "Error: ", ""]) + pick(TEXTS);
    const status = pick(CALL_STATUSES);
    const facts = { effect: pick([...TOOL_EFFECTS, null]), subject: pick([...TEXTS, null]) };
    const reason = pick(TEXTS);
    return pick<ExchangeEvent>([
      { type: "text", ...of, message_id, text: pick(TEXTS) },
      { type: "tool_call", ...of, message_id, call_id, name, args: args(), ...facts },
      { type: "tool_call", ...of, message_id, call_id, name, args: args(), ...facts },
      {
        type: "tool_result",
        ...of,
        call_id,
        name,
        ...facts,
        status,
        content,
        content_bytes: 1,
        duration_ms: 1,
      },
      { type: "retry", ...of, message_id, attempt: 2, code: "model_failed", reason, delay_ms: 9 },
      { type: "usage", ...of, message_id, input_tokens: 1_000_000, output_tokens: 1 },
      { type: "child", ...of, call_id, child_session_id: pick(SESSIONS), persona_name: name },
      { type: "child_waiting", ...of, call_id, running: 4 },
      { type: "notice", ...of, sentence: pick(TEXTS) },
    ]);
  };
  for (let exchange = 0; exchange < 20; exchange += 1) {
    width = pick(WIDTHS);
    view.user(pick(TEXTS));
    const of = { exchange_id: "e", session_id: "root" };
    view.show({ type: "started", ...of, thread_id: "t", model: null, persona_name: null });
    for (let step = 0; step < 30; step += 1) {
      ms += 700;
      view.show(event());
      view.output({ session_id: "root", call_id: pick(IDS), text: `${pick(TEXTS)}\n` });
      const height = 1 + Math.floor(random() * 12);
      const live = view.rows(width, height);
      check(live);
      expect(live.length).toBeLessThanOrEqual(height);
    }
    await view.finish({
      state: pick(["done", "stopped", "waiting"]),
      answer: "",
    } as ExchangeResult);
    expect(view.rows(width, 24)).toEqual([]);
    // oxlint-disable-next-line no-control-regex -- a pager takes tabs
    expect(view.details()?.rows.join("") ?? "").not.toMatch(/[\u0000-\u0008\u000a-\u001f\u202e]/);
  }
  expect(problems).toEqual([]);
});
