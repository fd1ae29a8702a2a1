import { Type, type Static } from "typebox";

import { closed, nullable, oneOf } from "./field-schemas.ts";
import { metadataOf, metadataValue, sessionName } from "./label-schemas.ts";
import { MAX_METADATA_PAIRS } from "../labels.ts";
import {
  cacheLife,
  chosenFallback,
  effort,
  limit,
  name,
  permissionMode,
  repoPath,
} from "./schemas.ts";

/** Context of another model: the conversation so far, or an empty one. */
const MODEL_CONTEXTS = ["keep", "fresh"] as const;

const orNone = () => Type.Optional(nullable(limit()));

const limits = () => Type.Object({ exchange: orNone(), session: orNone(), tree: orNone() }, closed);

/** Changes of `PATCH`: what is left out stays. Null removes a name, a limit or a pair of metadata. */
export const PatchSessionRequest = Type.Object(
  {
    name: Type.Optional(nullable(sessionName())),
    model: Type.Optional(name()),
    context: Type.Optional(oneOf(MODEL_CONTEXTS)),
    persona_name: Type.Optional(name()),
    plan_mode: Type.Optional(Type.Boolean()),
    metadata: Type.Optional(
      // as many can be removed as are set
      metadataOf<string | null>(nullable(metadataValue()), 2 * MAX_METADATA_PAIRS),
    ),
    permission: Type.Optional(permissionMode()),
    effort: Type.Optional(effort()),
    cache: Type.Optional(cacheLife()),
    fallback: Type.Optional(nullable(chosenFallback())),
    archived: Type.Optional(Type.Boolean()),
    pinned: Type.Optional(Type.Boolean()),
    repo_path: Type.Optional(repoPath()),
    token_limits: Type.Optional(limits()),
    price_limits: Type.Optional(limits()),
  },
  { ...closed, $id: "PatchSessionRequest" },
);
export type PatchSessionRequest = Static<typeof PatchSessionRequest>;
