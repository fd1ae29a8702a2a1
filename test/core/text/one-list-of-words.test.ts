import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { CALL_STATUSES } from "../../../src/core/calls.ts";
import { EXCHANGE_STATES } from "../../../src/core/exchanges.ts";
import { PERMISSION_MODES } from "../../../src/core/permissions.ts";
import {
  admissionChoices,
  approvalChoices,
  callEnd,
  callVerb,
  exploringVerb,
  limitChoices,
  modeMeaning,
  permissionChoices,
  repeatChoices,
  stoppedText,
  workText,
} from "../../../src/core/text/words.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";

const ROOT = join(import.meta.dirname, "../../..");
const FRONT_ENDS = ["src/cli", "src/http", "src/acp", "src/mcp-serve"];
/** States whose words are in one list. */
const STATES: ReadonlySet<string> = new Set([...CALL_STATUSES, ...EXCHANGE_STATES]);

/** Texts of the list with more than one word. */
const TEXTS = [
  permissionChoices(["a"], { each: true }),
  repeatChoices(),
  limitChoices("1 token more"),
  approvalChoices(),
  admissionChoices(),
]
  .flat()
  .flatMap(({ label, meaning }) => [label, meaning ?? ""])
  .concat(
    PERMISSION_MODES.map(modeMeaning),
    CALL_STATUSES.map(callEnd),
    stoppedText({ hasAnswer: true, next: "" }),
    stoppedText({ hasAnswer: false, next: "" }).trim(),
  )
  .filter((text) => text.includes(" "));

/** Objects of a source that have a quoted word for three states or more. */
function tablesOf(source: string): string[] {
  return (source.match(/\{[^{}]*\}/g) ?? []).filter((table) => {
    const words = [...table.matchAll(/(\w+): "[a-z][a-z ]+"/g)].filter(([, key = ""]) =>
      STATES.has(key),
    );
    return words.length > 2;
  });
}

function problemsOf(source: string): string[] {
  return [...TEXTS.filter((text) => source.includes(`"${text}`)), ...tablesOf(source)];
}

it("[TERM-211] a front end writes no separate words for states, calls, modes and choices", () => {
  const found = FRONT_ENDS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) =>
        problemsOf(readFileSync(join(ROOT, folder, file), "utf8")).map((what) => [file, what]),
      ),
  );
  expect(found).toEqual([]);
});

it("[TERM-211] would find a text of the list, and a table of states", () => {
  expect(problemsOf('print("always allow in this session: yes");')).toHaveLength(1);
  expect(
    problemsOf('const A = { ok: "fine", failed: "broken", denied: "not allowed" };'),
  ).toHaveLength(1);
  expect(problemsOf('const A = { ok: "✓", failed: "✗", unknown: "–" };')).toEqual([]);
});

/** Words that the page shows of calls and of the work of an exchange. */
const VERBS = new Set([
  ...[...BUILT_IN_TOOLS.names].flatMap((name) =>
    (["running", "ok"] as const).map((status) => callVerb(name, status)),
  ),
  ...[true, false].flatMap((isRunning) => [
    exploringVerb(isRunning),
    workText({ isRunning, took: "", steps: 1, failed: 0 }).title,
  ]),
]);

function verbsIn(source: string): string[] {
  return [...VERBS].filter((verb) =>
    new RegExp(`["\u0060>}]\\s*${verb}:?\\s*["\u0060<{]`).test(source),
  );
}

it("[PAGE-221] the page writes no separate words for what a call does", () => {
  const files = readdirSync(join(ROOT, "web/session"), { recursive: true, encoding: "utf8" });
  const found = files
    .filter((file) => /^(?:calls\/|exchange\/|LiveTail).*\.tsx?$/.test(file))
    .flatMap((file) =>
      verbsIn(readFileSync(join(ROOT, "web/session", file), "utf8")).map((verb) => [file, verb]),
    );
  expect(found).toEqual([]);
  expect(verbsIn('<strong>{isRunning ? "Exploring" : "Explored"}:</strong>')).toHaveLength(2);
  expect(verbsIn("<b>Ran {command}</b>")).toEqual(["Ran"]);
});

it("[PAGE-221] says what each call does or did, and how the work of an exchange went", () => {
  expect(CALL_STATUSES.map((status) => callVerb("edit_file", status))).toEqual([
    "Edited",
    "Edit failed",
    "Edit without a known end",
    "Edit denied",
    "Edit not run",
  ]);
  expect(callVerb("run_command", "failed")).toBe("Ran");
  expect(callVerb("run_command", "running")).toBe("Running");
  // a name that a model invents, or that each object has
  expect(callVerb("constructor", "ok")).toBe("Called constructor");
  expect(workText({ isRunning: false, took: "41 s", steps: 1200, failed: 1 })).toEqual({
    title: "Worked 41 s",
    steps: "1,200 steps",
    failed: "1 failed",
  });
});
