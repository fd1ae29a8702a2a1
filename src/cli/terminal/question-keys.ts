import type { KeyGuard } from "./key-guard.ts";

interface KeysOf {
  readonly guard: Pick<KeyGuard, "isArmed" | "isPausing">;
  readonly takes: "choice" | "text" | "reason";
  readonly hasSeenAll: boolean;
  readonly isOneOfMany: boolean;
}

/** What the keys of a question do now; none before they count. */
export function shownKeys({ guard, takes, hasSeenAll, isOneOfMany }: KeysOf): string[] {
  if (!guard.isArmed()) {
    return [];
  }
  if (guard.isPausing()) {
    return ["Your keys go to your message; pause to answer here"];
  }
  const next = isOneOfMany ? ["Tab next"] : [];
  switch (takes) {
    case "reason":
      return ["Enter denies", "Esc back"];
    case "text":
      return ["Enter answers", "Ctrl-O all", ...next, "Esc later"];
    case "choice":
      return [hasSeenAll ? "o all" : "o all, before a yes", ...next, "Esc later"];
  }
}
