import { Type } from "typebox";

/** The path parameter of every call on one session. */
export const SessionParams = Type.Object({
  id: Type.String({ description: "The session's id, or its first 6 or more characters." }),
});

export const SESSION_PROBLEMS = {
  404: "No session has this id.",
  409: "`ambiguous_id`: several sessions begin so; `candidates` lists them.",
} as const;
