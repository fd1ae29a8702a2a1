import { type Static, type TSchema, Type } from "typebox";

import { closed } from "./field-schemas.ts";
import { RunPhase } from "./plan-run-schemas.ts";
import { ExchangeInfo, named, QuestionInfo, SessionSummary } from "./schemas.ts";

/** The events of `GET /api/events`, as docs/protocol/http.md describes them ("Events of all sessions"). */

/** The data of each kind of event. */
const DATA = {
  reset: Type.Object({}, closed),
  created: named(SessionSummary),
  changed: named(SessionSummary),
  deleted: Type.Object({ id: Type.String({ format: "uuid" }) }, closed),
  exchange: named(ExchangeInfo),
  question: named(QuestionInfo),
  /** `session_id` is that of the run. */
  phase: Type.Object(
    { session_id: Type.String({ format: "uuid" }), phase: named(RunPhase) },
    closed,
  ),
} as const;
type EventData = { readonly [Name in keyof typeof DATA]: Static<(typeof DATA)[Name]> };

/** A change of a session, with the value of now: `id` is the reader's position after it. */
export type SessionEvent = {
  readonly [Name in keyof EventData]: {
    readonly id: string;
    readonly event: Name;
    readonly data: EventData[Name];
  };
}[keyof EventData];

const eventSchema = (event: string, data: TSchema): TSchema =>
  Type.Object({ id: Type.String(), event: Type.Literal(event), data }, closed);

/** For the OpenAPI document: an event with its data as JSON. */
export const SessionEventSchema = Type.Union(
  Object.entries(DATA).map(([event, data]) => eventSchema(event, data)),
);
