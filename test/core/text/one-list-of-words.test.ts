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
  limitChoices,
  modeMeaning,
  permissionChoices,
  repeatChoices,
  stoppedText,
} from "../../../src/core/text/words.ts";

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
