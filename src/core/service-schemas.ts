import { type Static, Type } from "typebox";

import { closed, nullable } from "./field-schemas.ts";

/** What the service finds out about sessions and itself, in the HTTP API. */

const count = () => Type.Integer({ minimum: 0 });

/** Whether a session's messages are those of its checkpoints. */
export const VerificationInfo = Type.Object(
  {
    session_id: Type.String({ format: "uuid" }),
    ok: Type.Boolean(),
    messages: count(),
    pending: Type.Integer({ minimum: 0, description: "User messages that no checkpoint holds." }),
    threads: count(),
    findings: Type.Array(
      Type.Object(
        {
          kind: Type.String({ description: "Such as `missing`; later versions may add kinds." }),
          seq: nullable(Type.Integer()),
          message_id: nullable(Type.String()),
          sentence: Type.String(),
        },
        closed,
      ),
    ),
  },
  { ...closed, $id: "VerificationInfo" },
);
export type VerificationInfo = Static<typeof VerificationInfo>;
