import { type Static, Type } from "typebox";

import { closed, nullable, oneOf } from "./field-schemas.ts";
import { MAX_PATH_LENGTH } from "../limits.ts";

/** Facts that the service finds out about sessions and itself, in the HTTP API. */

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

/** A service that runs exchanges. */
export const NodeInfo = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    agent: nullable(
      Type.String({ description: "The name of its agent; null for the built-in one." }),
    ),
    within: nullable(
      Type.Array(Type.String(), { description: "It runs sessions in these folders and below." }),
    ),
    trusted: nullable(
      Type.Array(Type.String(), { description: "It runs sessions in these projects." }),
    ),
    seen_at: Type.String({ format: "date-time" }),
  },
  { ...closed, $id: "NodeInfo" },
);
export type NodeInfo = Static<typeof NodeInfo>;

/** A session whose next exchange waits for a node. */
export const WaitingInfo = Type.Object(
  {
    session_id: Type.String({ format: "uuid" }),
    title: nullable(Type.String({ description: "Its name, else its title." })),
    repo_path: nullable(Type.String()),
    waits_since: Type.String({ format: "date-time" }),
    runnable: Type.Boolean({ description: "False if no node that is alive runs it." }),
    command: nullable(Type.String({ description: "What starts such a node, if there is none." })),
  },
  { ...closed, $id: "WaitingInfo" },
);
export type WaitingInfo = Static<typeof WaitingInfo>;

export const DoctorReport = Type.Object(
  {
    ok: Type.Boolean({ description: "False if a check has failed." }),
    checks: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          status: oneOf(["ok", "warning", "failed"]),
          sentence: Type.String(),
        },
        closed,
      ),
    ),
  },
  { ...closed, $id: "DoctorReport" },
);
export type DoctorReport = Static<typeof DoctorReport>;

/** A persona, or a file that cannot be used as one. */
export const PersonaInfo = Type.Object(
  {
    name: Type.String(),
    source: oneOf(["repository", "user", "built-in"]),
    description: Type.String(),
    model: nullable(Type.String()),
    tools: nullable(Type.Array(Type.String(), { description: "Null for all." })),
    fault: nullable(Type.String({ description: "Why it cannot be used; null if it can." })),
  },
  { ...closed, $id: "PersonaInfo" },
);
export type PersonaInfo = Static<typeof PersonaInfo>;

export const ModelInfo = Type.Object(
  {
    name: Type.String({ description: "As `model` of a session." }),
    provider: Type.String(),
    is_default: Type.Boolean({ description: "Sessions that name no model use it." }),
    is_usable: Type.Boolean({ description: "False if its key or its address is missing." }),
    context_tokens: nullable(Type.Integer({ description: "Tokens that it reads at most." })),
    output_tokens: nullable(Type.Integer({ description: "Tokens that it writes at most." })),
    is_assumed: Type.Boolean({ description: "True if nothing is known of its context." }),
    images: nullable(Type.Boolean({ description: "Whether it reads images." })),
    reasoning: nullable(Type.Boolean({ description: "Whether it reasons before it answers." })),
    input_price: nullable(
      Type.Integer({
        description: "Micro-dollars for a million tokens of a small request; null if unknown.",
      }),
    ),
    output_price: nullable(Type.Integer({ description: "The same for its answer." })),
    ends: nullable(
      Type.String({ format: "date", description: "The last day on which its provider answers." }),
    ),
  },
  { ...closed, $id: "ModelInfo" },
);
export type ModelInfo = Static<typeof ModelInfo>;

export const PersonasQuery = Type.Object(
  {
    repo_path: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_PATH_LENGTH,
        pattern: "^/",
        format: "storable-text",
        description: "an absolute path",
      }),
    ),
  },
  closed,
);
