import type {
  ExchangeChangesInfo,
  FileChangeInfo,
  UndoInfo,
  UndoRequest,
} from "../core/schemas/file-change-schemas.ts";
import type { Connection } from "./connection.ts";

/** Changes that exchanges made to files. All calls need a token. */
export interface ChangeCalls {
  /** The exchanges that changed files, the latest first. */
  listChanges(id: string): Promise<readonly ExchangeChangesInfo[]>;
  /** The files that an exchange changed, with unified diffs on the machine that keeps their content. */
  getChanges(id: string, n: number): Promise<readonly FileChangeInfo[]>;
  /**
   * Takes back what an exchange changed in files. A file that is not as the exchange left it is refused, the others
   * are done. Codes among others: `session_busy`, `nothing_to_undo`, `changes_elsewhere`.
   */
  undoExchange(id: string, n: number, options?: UndoRequest): Promise<UndoInfo>;
  /** Makes it again. Codes as of `undoExchange`. */
  redoExchange(id: string, n: number, options?: UndoRequest): Promise<UndoInfo>;
}

export function changeCalls(connection: Connection): ChangeCalls {
  const pathOf = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`;
  const post = async (id: string, call: string, body: UndoRequest): Promise<UndoInfo> =>
    connection.json<UndoInfo>("POST", `${pathOf(id)}/exchanges/${call}`, { body });
  return {
    listChanges: (id) => connection.json<ExchangeChangesInfo[]>("GET", `${pathOf(id)}/changes`),
    getChanges: (id, n) =>
      connection.json<FileChangeInfo[]>("GET", `${pathOf(id)}/exchanges/${n}/changes`),
    undoExchange: (id, n, options = {}) => post(id, `${n}/undo`, options),
    redoExchange: (id, n, options = {}) => post(id, `${n}/redo`, options),
  };
}
