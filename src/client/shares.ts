import type {
  CreateShareRequest,
  NewShareInfo,
  ShareInfo,
} from "../core/schemas/access-schemas.ts";
import type { Connection } from "./connection.ts";

/** Links that show one session without a token. All of it needs the token of the service. */
export interface ShareCalls {
  /** Makes a link. Its secret is only in this answer: the link is the service's address and `path`. */
  createShare(id: string, options?: CreateShareRequest): Promise<NewShareInfo>;
  /** Lists the links that are valid, the oldest first. */
  listShares(id: string): Promise<readonly ShareInfo[]>;
  /** Ends a link. Code among others: `access_not_found`. */
  revokeShare(id: string, share: string): Promise<void>;
}

export function shareCalls(connection: Connection): ShareCalls {
  const pathOf = (id: string): string => `/api/sessions/${encodeURIComponent(id)}/shares`;
  return {
    createShare: (id, body = {}) => connection.json<NewShareInfo>("POST", pathOf(id), { body }),
    listShares: (id) => connection.json<ShareInfo[]>("GET", pathOf(id)),
    revokeShare: (id, share) =>
      connection.empty("DELETE", `${pathOf(id)}/${encodeURIComponent(share)}`),
  };
}
