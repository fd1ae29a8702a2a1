import type { LoginKind } from "../../core/principal.ts";

/**
 * Who may use the page. No export and no copy has these rows: they let somebody into this database. Secrets are
 * kept as SHA-256 in hexadecimal digits, but for the one that signs.
 */
export interface AccessTables {
  page_secrets: PageSecretTable;
  login_codes: LoginCodeTable;
  session_shares: SessionShareTable;
  page_logins: PageLoginTable;
}

/** Table of one row, made when it is first needed: cookies are signed with it on all nodes. */
interface PageSecretTable {
  id: string;
  /** 32 random bytes in hexadecimal digits. */
  value: string;
}

/** A code is deleted when it is used. */
interface LoginCodeTable {
  hash: string;
  expires_at: string;
}

/** A link that shows one session; deleted with it. */
export interface SessionShareTable {
  id: string;
  session_id: string;
  hash: string;
  created_at: string;
  expires_at: string;
  /** When a browser last got a login for it. */
  last_used_at: string | null;
}

/** A browser that is logged in; deleted when it logs out or is revoked. */
export interface PageLoginTable {
  id: string;
  kind: LoginKind;
  /** Link of a login of the kind `share`, with which it is deleted. */
  share_id: string | null;
  created_at: string;
  /** Written at most every `LOGIN_TOUCH_MS`. */
  last_used_at: string;
}
