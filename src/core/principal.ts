/**
 * Where a message or a change came from: a person at a terminal, `-p` or input without a terminal,
 * the HTTP API, or the agent itself.
 */
export const ORIGINS = ["terminal", "prompt", "http", "agent"] as const;
export type Origin = (typeof ORIGINS)[number];

/** Roles: may do everything, read everything, read one session, or do what the service lets everybody do. */
export const ACCESS_ROLES = ["owner", "reader", "visitor", "guest"] as const;
export type AccessRole = (typeof ACCESS_ROLES)[number];

/** By what somebody got in: a one-time code, the service's token, its read token, or the link of a session. */
export const LOGIN_KINDS = ["code", "token", "read_token", "share"] as const;
export type LoginKind = (typeof LOGIN_KINDS)[number];

/** Proof of a role: a token, the login of a browser, the link of a session, or the account that runs the program. */
export type PrincipalVia = "token" | "login" | "share" | "local";

/** Who acts. Made once, by the gate of the service or by the program that a person runs, and given to operations. */
export interface Principal {
  /** `user@host` of the person who runs the program; null if nobody knows. */
  readonly user_id: string | null;
  readonly role: AccessRole;
  /** Null for a guest, who has proved nothing, and for a message whose sender is known by its role alone. */
  readonly via: PrincipalVia | null;
  readonly origin: Origin;
}

/** Who has proved nothing to the service. */
export const GUEST: Principal = { user_id: null, role: "guest", via: null, origin: "http" };

/** The agent, which acts for the user who runs the exchange. */
export const AGENT: Principal = { user_id: null, role: "owner", via: "local", origin: "agent" };

/** Makes the principal of a request with a token. */
export function tokenHolder(role: "owner" | "reader"): Principal {
  return { user_id: null, role, via: "token", origin: "http" };
}

/** Makes the principal of a request with the login of a browser. */
export function loggedIn(kind: LoginKind): Principal {
  switch (kind) {
    case "code":
    case "token":
      return { user_id: null, role: "owner", via: "login", origin: "http" };
    case "read_token":
      return { user_id: null, role: "reader", via: "login", origin: "http" };
    case "share":
      return { user_id: null, role: "visitor", via: "share", origin: "http" };
  }
}

/** Makes the principal of a person whose account runs the program: it has the database. */
export function localPrincipal(origin: Origin, user_id: string | null): Principal {
  return { user_id, role: "owner", via: "local", origin };
}

/** Makes the principal of a stored message. Rows keep whether its sender had the token, not more. */
export function storedSender(origin: Origin | null, authenticated: number): Principal {
  const role = authenticated === 1 ? "owner" : "guest";
  return { user_id: null, role, via: null, origin: origin ?? "http" };
}

/**
 * True for the owner. Messages and settings of others reach the agent only after somebody confirmed them. An unknown
 * principal counts as the owner: programs that have the database need not say who they act for.
 */
export function isOwner(principal: Pick<Principal, "role"> | undefined): boolean {
  return principal === undefined || principal.role === "owner";
}

/** The name of everybody who acts over HTTP with the token, in what is kept of consents. */
const TOKEN_HOLDER = "token";

/** Returns the name that is kept for a consent: `user@host` or `token`; null if nobody knows, or for others than the owner. */
export function consenterOf(principal: Principal | undefined): string | null {
  if (principal === undefined || principal.role !== "owner") {
    return null;
  }
  const { user_id, via } = principal;
  return user_id ?? (via === "token" || via === "login" ? TOKEN_HOLDER : null);
}
