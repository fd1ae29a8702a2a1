import { marked, type Token, type Tokens } from "marked";
import { expect, it } from "vitest";

import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import { markdownReport } from "../../src/plans/markdown-report.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-texts.ts";

const TEXTS = [
  ...HOSTILE_TEXTS,
  "@everyone see #1 and https://attacker.invalid",
  "a | b \\| c",
  "`` ` ```",
  "`",
  "\\",
  "\u001b]0;title\u0007\u202e",
  "one\n\n# two\r\n- three\n```\n",
  "",
  "x".repeat(5000),
];

/** A run in which each text from outside is this one. */
function runOf(text: string): RunDetail {
  const phase: RunDetail["phases"][number] = {
    key: text,
    title: text,
    role: text,
    depends_on: [],
    state: "failed",
    shown: "failed",
    attempt: 2,
    session_id: crypto.randomUUID(),
    model: text,
    usage: null,
    cost_micros: null,
    files: [{ path: text, undone: true }],
    files_changed: 1,
    artifact: { path: text, schema: text, hash: null },
    checked: {
      attempt: 1,
      corrections: 1,
      artifact_hash: text,
      commands: [{ argv: [text], code: null, ms: 5, failure: text }],
    },
    last_action: null,
    approvals: [
      {
        attempt: 1,
        answer: "refuse",
        note: text,
        by: "http",
        who: text,
        at: "2026-01-01T00:00:00.000Z",
        counts: true,
      },
    ],
    error: { code: text, sentence: text },
    begun_at: null,
    ended_at: null,
  };
  return {
    session_id: crypto.randomUUID(),
    run_id: text,
    number: 1,
    state: "failed",
    phases_done: 0,
    phases_total: 1,
    asking: [],
    path: text,
    plan: { runId: text, phaseKey: "planning", phases: [] },
    checks: { all: [[text]] },
    checks_consent: { who: text, at: "2026-01-01T00:00:00.000Z" },
    options: { parallel: 1, retries: 0, approve: [] },
    exchange: null,
    phases: [phase],
    unread: [{ seq: 3, ts: "2026-01-01T00:00:00.000Z", content: text }],
  };
}

/** Kinds of the tokens of a text, without code spans; cells of tables are walked too. */
function kindsIn(markdown: string): readonly string[] {
  const kinds: string[] = [];
  void marked.walkTokens(marked.lexer(markdown), (token: Token) => {
    kinds.push(token.type);
  });
  return kinds.filter((kind) => kind !== "codespan");
}

it("[PLANRUN-46] shows no text from outside but in a code span on one line", () => {
  const plain = markdownReport(runOf("plain"));
  const kinds = kindsIn(plain);
  expect(new Set(kinds)).toEqual(
    new Set(["heading", "text", "space", "list", "list_item", "table"]),
  );
  const table = (markdown: string) =>
    marked.lexer(markdown).find(({ type }) => type === "table") as Tokens.Table;
  for (const text of TEXTS.filter((each) => each.trim() !== "")) {
    const shown = markdownReport(runOf(text));
    expect(kindsIn(shown), text).toEqual(kinds);
    expect(table(shown).rows[0]).toHaveLength(table(plain).rows[0]!.length);
    // oxlint-disable-next-line no-control-regex -- none of them may come through
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
    expect(shown.length).toBeLessThan(8000);
  }
  expect(markdownReport(runOf(""))).toContain("## (empty): (empty)");
});
