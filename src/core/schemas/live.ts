import { type Static, type TSchema, Type } from "typebox";

import { LIVE_CALL_STATUSES } from "../calls.ts";
import { ERROR_CODES } from "../errors.ts";
import { callFacts, closed, nullable, oneOf } from "./field-schemas.ts";
import { RunPhase } from "./plan-run-schemas.ts";
import { ExchangeInfo, MessageInfo, named, QuestionInfo, SessionSummary } from "./schemas.ts";

/** The events of the live feed, as docs/protocol/http.md describes them ("The live feed"). */

const count = () => Type.Integer({ minimum: 0 });
const n = () => Type.Integer({ minimum: 1 });

/** A piece of an answer that arrives; `offset` counts the code points of the answer before it. */
const TextPiece = Type.Object(
  { message_id: Type.String(), attempt: count(), offset: count(), text: Type.String() },
  closed,
);
export type TextPiece = Static<typeof TextPiece>;

const Call = Type.Object(
  {
    call_id: Type.String(),
    message_id: Type.String(),
    name: Type.String(),
    args: Type.Unknown(),
    ...callFacts,
    status: oneOf(LIVE_CALL_STATUSES),
    duration_ms: nullable(count()),
  },
  closed,
);

/** Whole lines that a call has printed, cleaned; `lines_before` counts those before them. */
const Output = Type.Object(
  { call_id: Type.String(), lines_before: count(), text: Type.String() },
  closed,
);

const Usage = Type.Object({ n: n(), input_tokens: count(), output_tokens: count() }, closed);
export type LiveUsage = Static<typeof Usage>;

const Retry = Type.Object(
  {
    attempt: count(),
    code: oneOf(ERROR_CODES),
    reason: Type.String(),
    until: Type.String({ format: "date-time" }),
  },
  closed,
);

const Reasoning = Type.Object({ message_id: Type.String(), text: Type.String() }, closed);

export const LiveSnapshot = Type.Object(
  {
    session: named(SessionSummary),
    exchange: orNull(named(ExchangeInfo)),
    questions: Type.Array(named(QuestionInfo)),
    calls: Type.Array(Call),
    outputs: Type.Array(Output),
    usage: nullable(Usage),
    retry: nullable(Retry),
    reasoning: nullable(Reasoning),
    text: nullable(TextPiece),
    last_seq: count(),
  },
  { ...closed, $id: "LiveSnapshot" },
);

/** The data of each kind of event. */
const DATA = {
  snapshot: named(LiveSnapshot),
  reasoning: Reasoning,
  text: TextPiece,
  message: named(MessageInfo),
  reset: Type.Object({ message_id: Type.String(), attempt: count() }, closed),
  exchange: named(ExchangeInfo),
  question: named(QuestionInfo),
  tool_call: Call,
  output: Output,
  usage: Usage,
  retry: nullable(Retry),
  phase: named(RunPhase),
} as const;
type LiveData = { readonly [Name in keyof typeof DATA]: Static<(typeof DATA)[Name]> };
export type LiveEventName = keyof LiveData;

/** An event of the live feed: `id` is the reader's position after it. */
export type LiveEvent = {
  readonly [Name in LiveEventName]: {
    readonly id: string;
    readonly event: Name;
    readonly data: LiveData[Name];
  };
}[LiveEventName];

const eventSchema = (event: string, data: TSchema): TSchema =>
  Type.Object({ id: Type.String(), event: Type.Literal(event), data }, closed);

/** For the OpenAPI document: an event with its data as JSON. */
export const LiveEventSchema = Type.Union(
  Object.entries(DATA).map(([event, data]) => eventSchema(event, data)),
);

function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}
