import type { SessionSummary } from "../../src/entries/client.ts";

export type Mode = NonNullable<SessionSummary["permission"]>;

/** What is asked before a tool takes effect; planning is a setting beside it. */
export const MODES: Readonly<Record<Mode, string>> = {
  ask: "ask: each change is asked about",
  edits: "edits: ordinary files in the folder without a question",
  auto: "auto: as edits, and commands in the sandbox without a question",
  all: "all: only protected files are asked about",
};
