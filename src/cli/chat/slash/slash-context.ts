import type { Store } from "../../../store/store.ts";
import type { Front } from "../front.ts";
import type { Talk } from "../talk.ts";

/** Reaction of the screen. */
export type SlashOutcome = "stay" | "leave" | "continue" | OpenSession;

/** Continues in another session; null begins one. */
export interface OpenSession {
  readonly open: string | null;
}

/** Parts of the program that a command may use. */
export interface SlashContext extends Pick<Talk, "cli" | "conversation"> {
  readonly store: Store;
  /** The name of the agent of `--agent`; null for the built-in one. */
  readonly answering: { readonly agent: string | null };
  /** Aborted if a person stops what takes long. */
  readonly signal: AbortSignal;
  /** Asks before what cannot be undone. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly front: Pick<
    Front,
    | "showDetails"
    | "pickModel"
    | "pickSession"
    | "showDiff"
    | "help"
    | "outside"
    | "leaving"
    | "replay"
    | "rewind"
    | "giveBack"
  >;
}
