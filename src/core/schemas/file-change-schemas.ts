import { type Static, Type } from "typebox";

import { closed, nullable, oneOf } from "./field-schemas.ts";

/** The files that exchanges changed, and what undoing them does, as the HTTP API and `--json` show them. */

const path = () => Type.String({ description: "Below the session's folder, with `/`." });
const count = () => Type.Integer({ minimum: 0 });
const exchange = () => Type.Integer({ minimum: 0, description: "The exchange's number." });

const CHANGE_KINDS = ["created", "changed", "deleted", "replaced"] as const;

export const FileChangeInfo = Type.Object(
  {
    path: path(),
    kind: oneOf(CHANGE_KINDS),
    tools: Type.Array(Type.String(), { description: "The tools that changed it." }),
    calls: Type.Array(Type.String(), { description: "The ids of the calls that changed it." }),
    added: nullable(count()),
    removed: nullable(count()),
    diff: nullable(
      Type.String({
        description:
          "The unified diff, cut if it is long. Null if the content is not on this machine any more.",
      }),
    ),
    reason: nullable(
      Type.String({
        description: "Why undo leaves it as it is. The path `.` is that of the whole folder.",
      }),
    ),
    undone: Type.Boolean(),
  },
  { ...closed, $id: "FileChangeInfo" },
);
export type FileChangeInfo = Static<typeof FileChangeInfo>;

export const ExchangeChangesInfo = Type.Object(
  {
    n: exchange(),
    changes: Type.Integer({
      minimum: 1,
      description: "Changes of files, one path more than once.",
    }),
    undone: Type.Integer({ minimum: 0, description: "How many of them were undone." }),
  },
  { ...closed, $id: "ExchangeChangesInfo" },
);
export type ExchangeChangesInfo = Static<typeof ExchangeChangesInfo>;

const UNDO_OUTCOMES = ["restored", "unchanged", "refused"] as const;

export const FileOutcome = Type.Object(
  {
    path: path(),
    outcome: oneOf(UNDO_OUTCOMES),
    reason: nullable(Type.String({ description: "Why it was refused or left." })),
    diff: nullable(
      Type.String({
        description: "What undoing changes; of a refused file, what others changed since.",
      }),
    ),
  },
  { ...closed, $id: "FileOutcome" },
);
export type FileOutcome = Static<typeof FileOutcome>;

export const UndoInfo = Type.Object(
  {
    n: exchange(),
    dry_run: Type.Boolean({ description: "True if nothing was changed." }),
    files: Type.Array(Type.Unsafe<FileOutcome>({ $ref: "FileOutcome#" })),
  },
  { ...closed, $id: "UndoInfo" },
);
export type UndoInfo = Static<typeof UndoInfo>;

/** Paths that are undone at most by name. */
const MAX_FILES = 1000;

export const UndoRequest = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({ description: "true to see what would be done, and change nothing" }),
    ),
    files: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
        minItems: 1,
        maxItems: MAX_FILES,
        description: "an array of paths below the session's folder: only these",
      }),
    ),
  },
  { ...closed, $id: "UndoRequest" },
);
export type UndoRequest = Static<typeof UndoRequest>;
