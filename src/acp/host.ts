import type { Principal } from "../core/principal.ts";
import type { Confirmation } from "../exchange/confirmation.ts";
import type { ConversationStart } from "../exchange/conversation.ts";
import type { ExchangerConfig, OpenExchanger } from "../exchange/exchanger.ts";
import type { Settings } from "../rules/config/settings.ts";
import type { PersonaFolders } from "../rules/personas/folders.ts";
import type { Store } from "../store/store.ts";

/** Parts of the program that editors need: see `reprise acp`. */
export interface EditorHost {
  readonly version: string;
  /** The person at the editor. */
  readonly principal: Principal;
  readonly settings: Settings;
  readonly personas: PersonaFolders;
  readonly openExchanger: OpenExchanger;
  /** Error codes: `database_*`, `config_invalid`. */
  openStore(): Promise<Store>;
  exchangerConfig(store: Store): ExchangerConfig;
  confirmation(store: Store): Promise<Confirmation>;
  /** Columns of a new session in a folder. Error codes: `config_invalid`. */
  newSession(folder: string): Promise<Extract<ConversationStart, { kind: "new" }>["columns"]>;
  /** Says what of a folder is not used because it is not trusted; null if that is nothing. */
  withheld(folder: string): Promise<string | null>;
  /** Deletes what this machine keeps of sessions, and what the search has. */
  forget(
    store: Store,
    deleted: readonly { readonly session: { readonly id: string } }[],
  ): Promise<void>;
  /** Writes a sentence to the log, which a person may read. */
  log(sentence: string): void;
  /** Writes an error to the log that was not thrown on purpose. */
  logFailure(error: unknown): Promise<void>;
}
