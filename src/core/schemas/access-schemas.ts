import { type Static, Type } from "typebox";

import { MAX_SHARE_DAYS, SHARE_DAYS } from "../access.ts";
import { ACCESS_ROLES, LOGIN_KINDS } from "../principal.ts";
import { closed, nullable, oneOf } from "./field-schemas.ts";

/** Who may use the page, in the HTTP API. */

const time = () => Type.String({ format: "date-time" });

/** A code or a link has 22 characters, a token up to 1,024. */
const secret = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));

/** Exactly one of them. */
export const LoginRequest = Type.Object(
  {
    code: secret("a one-time code, from the address that the service prints"),
    token: secret("a token: that of the service, or its read token"),
    share: secret("a secret, from the address of a link"),
  },
  { ...closed, minProperties: 1, maxProperties: 1, $id: "LoginRequest" },
);
export type LoginRequest = Static<typeof LoginRequest>;

export const Whoami = Type.Object(
  {
    role: oneOf(ACCESS_ROLES),
    session: nullable(
      Type.String({ format: "uuid", description: "The only session that a visitor reads." }),
    ),
    expires_at: nullable(
      Type.String({
        format: "date-time",
        description: "When the login ends if it is not used again; null without one.",
      }),
    ),
    plain_http: Type.Boolean({
      description: "True if what is sent can be read on the network: no TLS, and not this machine.",
    }),
    version: Type.String({ description: "The version of the service." }),
  },
  { ...closed, $id: "Whoami" },
);
export type Whoami = Static<typeof Whoami>;

export const CreateShareRequest = Type.Object(
  {
    expires_in_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SHARE_DAYS,
        description: `a number of days from 1 to ${MAX_SHARE_DAYS}; ${SHARE_DAYS} by default`,
      }),
    ),
  },
  { ...closed, $id: "CreateShareRequest" },
);
export type CreateShareRequest = Static<typeof CreateShareRequest>;

const share = { id: Type.String({ format: "uuid" }), expires_at: time() };

/** A link that was made. Its secret is shown only now. */
export const NewShareInfo = Type.Object(
  {
    ...share,
    secret: Type.String(),
    path: Type.String({ description: "What follows the address of the service in the link." }),
  },
  { ...closed, $id: "NewShareInfo" },
);
export type NewShareInfo = Static<typeof NewShareInfo>;

export const ShareInfo = Type.Object(
  {
    ...share,
    created_at: time(),
    last_used_at: nullable(
      Type.String({ format: "date-time", description: "When a browser last opened it." }),
    ),
  },
  { ...closed, $id: "ShareInfo" },
);
export type ShareInfo = Static<typeof ShareInfo>;

/** A browser that is logged in, or a link that shows a session (`link`). */
export const AccessInfo = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    kind: oneOf([...LOGIN_KINDS, "link"]),
    created_at: time(),
    last_used_at: nullable(Type.String({ format: "date-time" })),
    expires_at: Type.String({
      format: "date-time",
      description: "When it ends if it is not used again.",
    }),
    session_id: nullable(
      Type.String({ format: "uuid", description: "What a link shows, and who came by one." }),
    ),
  },
  { ...closed, $id: "AccessInfo" },
);
export type AccessInfo = Static<typeof AccessInfo>;
