import { Type, type Static, type TSchema, type TUnsafe } from "typebox";

import { MAX_SUBJECT } from "../limits.ts";
import type { FieldTable, FieldTypes } from "../sessions.ts";
import { TOOL_EFFECTS } from "../tools.ts";

/** For an object schema that refuses unknown fields. */
export const closed = { additionalProperties: false } as const;

/** For one whose sender may add fields, which are ignored; generated clients can then send them. */
export const open = { additionalProperties: true } as const;

// two types in one keyword and no `anyOf`: a serializer would try each branch on every value
export const nullable = <T extends TSchema & { readonly type: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, "null"] });
export const oneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...words] });
export const nullableOneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number] | null>({ type: ["string", "null"], enum: [...words, null] });

export const text = () => Type.String({ format: "storable-text" });

const madeCall = { id: Type.String(), name: Type.String(), args: Type.Unknown() };
const subject = () => Type.String({ maxLength: MAX_SUBJECT });

/** Facts of a call; see `CallFacts`. */
export const callFacts = { effect: nullableOneOf(TOOL_EFFECTS), subject: nullable(subject()) };

export const ToolCall = Type.Object({ ...madeCall, ...callFacts }, closed);

/** A call in an export: a fact is written only if it is known. */
export const PortableCall = Type.Object(
  {
    ...madeCall,
    effect: Type.Optional(oneOf(TOOL_EFFECTS)),
    subject: Type.Optional(subject()),
  },
  closed,
);

export const QuestionChoice = Type.Object(
  {
    id: Type.String(),
    label: text(),
    meaning: nullable(text()),
    lasting: nullable(Type.Array(text())),
  },
  closed,
);

export const Permission = Type.Object(
  {
    tool: text(),
    subject: nullable(text()),
    rule: text(),
    layer: text(),
    may_last: Type.Boolean(),
  },
  closed,
);

type FieldSchemas<T extends FieldTable> = {
  -readonly [Name in keyof T]: TUnsafe<FieldTypes[T[Name]]>;
};

/** The schema of each field, by the kind of the field. */
export function fieldSchemas<
  Kind extends keyof FieldTypes,
  T extends Readonly<Record<string, Kind>>,
>(fields: T, kinds: Readonly<Record<Kind, () => TSchema>>): FieldSchemas<T> {
  const entries = Object.entries<Kind>(fields).map(([name, kind]) => [name, kinds[kind]()]);
  return Object.fromEntries(entries) as FieldSchemas<T>;
}
