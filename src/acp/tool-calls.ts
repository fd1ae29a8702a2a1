import { isAbsolute, join } from "node:path";

import type {
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
} from "@agentclientprotocol/sdk/unstable";

import type { CallStatus } from "../core/calls.ts";
import type { ToolCall } from "../core/sessions.ts";
import { oneLine, visible } from "../core/text/terminal-text.ts";
import type { ToolEffect } from "../core/tools.ts";
import type { ChangedText } from "../exchange/undo/changed-texts.ts";
import { DELEGATE, FIND_FILES, LIST_FILES, SEARCH_FILES } from "../rules/tools/built-in.ts";

/** Characters of a result, and of arguments as JSON, that an editor is sent. */
const MAX_TEXT = 64 * 1024;

const KINDS: Readonly<Record<ToolEffect, ToolKind>> = {
  reads: "read",
  changes: "edit",
  runs: "execute",
  asks: "other",
};

/** Tools whose kind is not that of their effect. */
const KINDS_BY_TOOL: ReadonlyMap<string, ToolKind> = new Map([
  [LIST_FILES.name, "search"],
  [FIND_FILES.name, "search"],
  [SEARCH_FILES.name, "search"],
  [DELEGATE.name, "think"],
]);

/** Facts of a call that an editor is shown when it begins. */
export function callFacts(
  { name, args, effect, subject }: Omit<ToolCall, "id">,
  folder: string | null,
): {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  readonly rawInput?: unknown;
} {
  const title = oneLine(subject === null ? name : `${name} ${subject}`);
  const isShort = (JSON.stringify(args) ?? "").length <= MAX_TEXT;
  const path = typeof args === "object" && args !== null ? Reflect.get(args, "path") : null;
  const isPath = typeof path === "string" && path !== "" && folder !== null;
  return {
    title,
    kind: KINDS_BY_TOOL.get(name) ?? (effect === null ? "other" : KINDS[effect]),
    locations: isPath ? [{ path: isAbsolute(path) ? path : join(folder, path) }] : [],
    ...(isShort ? { rawInput: args } : {}),
  };
}

/** A call whose end is unknown, or that never ran, has failed for an editor: its text says which. */
export function statusOf(status: CallStatus | null): ToolCallStatus {
  return status === null || status === "ok" ? "completed" : "failed";
}

/** The files that a call changed, then its text. */
export function resultContent(text: string, changed: readonly ChangedText[]): ToolCallContent[] {
  const diffs = changed.flatMap(({ path, texts }): ToolCallContent[] =>
    texts === undefined
      ? []
      : [{ type: "diff", path, oldText: texts.before, newText: texts.after ?? "" }],
  );
  return text === "" ? diffs : [...diffs, textContent(text)];
}

/** A text, of a long one its beginning and its end. */
export function textContent(text: string): ToolCallContent {
  const half = MAX_TEXT / 2;
  const shown =
    text.length <= MAX_TEXT ? text : `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`;
  return { type: "content", content: { type: "text", text: visible(shown.toWellFormed()) } };
}
