import type { Conversation } from "../../exchange/conversation.ts";
import type { Secrets } from "../../core/secrets.ts";
import type { Store } from "../../store/store.ts";
import type { CliContext } from "../process/context.ts";
import type { RawTerminal } from "../process/raw-terminal.ts";
import type { SessionSource } from "./picker/picker-source.ts";
import type { Answering } from "../chat/who-answers.ts";

/** A conversation, and the terminal that shows it. */
export interface ScreenOptions {
  readonly cli: CliContext;
  readonly terminal: RawTerminal;
  readonly store: Store;
  readonly conversation: Conversation;
  readonly answering: Answering;
  readonly secrets: Secrets;
  /** Sessions to choose from. */
  readonly sessions: () => Promise<SessionSource>;
  /** Null while that is not known, and if no command can run. */
  readonly hasSandbox: () => boolean | null;
}
