import type { KeyGuard } from "./key-guard.ts";

interface KeysOf {
  readonly guard: Pick<KeyGuard, "isArmed" | "isPausing">;
  readonly takes: "choice" | "mark" | "marked" | "message" | "text" | "reason";
  readonly hasSeenAll: boolean;
  readonly isOneOfMany: boolean;
}

const WORDS = "text is a message";

/** Says what the keys of a question do now; nothing before they count. */
export function shownKeys({ guard, takes, hasSeenAll, isOneOfMany }: KeysOf): string[] {
  if (!guard.isArmed()) {
    return [];
  }
  if (takes === "message") {
    return ["Enter sends it after this", "Esc back to the choices"];
  }
  if (guard.isPausing()) {
    return ["You are writing a message: wait a moment to answer here"];
  }
  const next = isOneOfMany ? ["Tab next"] : [];
  switch (takes) {
    case "reason":
      return ["Enter denies", "Esc back"];
    case "text":
      return [
        "Enter answers",
        hasSeenAll ? "Ctrl-O opens it" : "read it first: Ctrl-O",
        ...next,
        "Esc later",
      ];
    case "choice":
      return [hasSeenAll ? "o opens it" : "read it first: o", ...next, "Esc later", WORDS];
    case "mark":
      return [WORDS];
    case "marked":
      return ["Enter confirms, Esc goes back", WORDS];
  }
}
