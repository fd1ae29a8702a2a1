import type { FileChangeInfo, UndoInfo } from "../../core/schemas/file-change-schemas.ts";
import type { Session } from "../../core/sessions.ts";
import type { ExchangerConfig } from "../exchanger.ts";
import type { Direction } from "../../workspace/undo/restore.ts";
import type { UndoneExchange } from "./undo-after.ts";
import type { Principal } from "../../core/principal.ts";

/** Changes of files by exchanges of a conversation. */
export interface ConversationChanges {
  /** Returns what the last exchange that changed files changed. */
  changes(): Promise<readonly FileChangeInfo[]>;
  /** Returns what all exchanges of the session changed together, path by path, without what was undone. */
  changesOfSession(): Promise<readonly FileChangeInfo[]>;
  /** Returns what calls of a session of the conversation changed in files, by the id of the call. */
  changesOfCalls(calls: {
    readonly session_id: string;
    readonly call_ids: readonly string[];
  }): Promise<ReadonlyMap<string, readonly FileChangeInfo[]>>;
  /** As `undoExchange`. Error codes: `nothing_to_undo` without a session. */
  undo(direction: Direction, n: number | undefined): Promise<UndoInfo>;
  /** As `undoAfter`; nothing without a session. */
  undoAfter(after_seq: number, dry_run: boolean): Promise<readonly UndoneExchange[]>;
}

export function changesOfConversation(
  { store, undoFolder, secrets }: Pick<ExchangerConfig, "store" | "undoFolder" | "secrets">,
  { session, principal }: { readonly session: () => Session | null; readonly principal: Principal },
): ConversationChanges {
  // loaded when it is used: a prompt can be shown without it
  const source = async () => {
    const { keptBytesIn } = await import("../../workspace/undo/kept-bytes.ts");
    return { store, kept: keptBytesIn(undoFolder), secrets };
  };
  return {
    changes: async () => {
      const reference = session()?.id;
      if (reference === undefined) {
        return [];
      }
      const { changedExchanges, changesOfExchange } = await import("./show-changes.ts");
      const from = await source();
      const [last] = await changedExchanges(from, { reference });
      return last === undefined ? [] : changesOfExchange(from, { reference, n: last.n });
    },
    changesOfSession: async () => {
      const reference = session()?.id;
      if (reference === undefined) {
        return [];
      }
      const { changesOfSession } = await import("./show-changes.ts");
      return changesOfSession(await source(), { reference });
    },
    changesOfCalls: async (calls) => {
      const { changesOfCalls } = await import("./show-changes.ts");
      return changesOfCalls(await source(), calls);
    },
    undo: async (direction, n) => {
      const { undoExchange, nothingTo } = await import("./undo-exchange.ts");
      const reference = session()?.id;
      if (reference === undefined) {
        throw nothingTo(direction, "No session was stored");
      }
      const options = { ...(await source()), command: "reprise" };
      return undoExchange(options, { reference, direction, n, principal });
    },
    undoAfter: async (after_seq, dry_run) => {
      const reference = session()?.id;
      if (reference === undefined) {
        return [];
      }
      const { undoAfter } = await import("./undo-after.ts");
      const options = { ...(await source()), command: "reprise" };
      return undoAfter(options, { reference, after_seq, dry_run, principal });
    },
  };
}
