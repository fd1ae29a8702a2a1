import { SessionExport } from "./export-schema.ts";

/** Values of columns that an export does not name. */
export const ORIGIN_DEFAULTS = { origin: null, authenticated: 1, accepted_at: null } as const;
export const MESSAGE_DEFAULTS = { ...ORIGIN_DEFAULTS, call_id: null, status: null } as const;
export const SESSION_DEFAULTS = {
  ...ORIGIN_DEFAULTS,
  chosen: null,
  create_key: null,
  create_request: null,
  input_tokens_ahead: 0,
  agent: null,
  exchange_count: 0,
  exchange_limit: null,
  session_limit: null,
  tree_limit: null,
  exchange_price_limit: null,
  session_price_limit: null,
  tree_price_limit: null,
  name: null,
  named_at: null,
  archived_at: null,
  archive_changed_at: null,
  pinned_at: null,
  pin_changed_at: null,
  metadata_changed_at: null,
  effort: null,
  cache: null,
  fallback: null,
  project_id: null,
  forked_from_session_id: null,
  forked_from_seq: null,
} as const;
export const EXCHANGE_DEFAULTS = {
  content: null,
  origin: null,
  authenticated: 1,
  idempotency_key: null,
  request: null,
  attempts: 0,
  queued_at: null,
  fallback_model: null,
  resets_at: null,
  not_before: null,
} as const;

/** Columns of 0 or 1 that are booleans in an export. */
const FLAGS = new Set(
  Object.entries({
    ...SessionExport.properties.session.properties,
    ...SessionExport.properties.messages.items.properties,
  })
    .filter(([, schema]) => Reflect.get(schema, "type") === "boolean")
    .map(([name]) => name),
).add("authenticated");

/** A row's fields in an export: a column that holds its default is left out. */
export function fieldsOf(row: object, defaults: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name, value]) => Reflect.get(defaults, name) !== value)
      .map(([name, value]) => [name, FLAGS.has(name) ? value === 1 : value]),
  );
}

type Columns<T, Defaults> = {
  [Name in keyof T]-?:
    | (Exclude<T[Name], undefined> extends boolean ? number : Exclude<T[Name], undefined>)
    | (Name extends keyof Defaults ? Defaults[Name] : never);
};

/** The columns again that an export's fields name, or leave to their defaults. */
export function columnsOf<T extends object, Defaults extends object>(
  fields: T,
  defaults: Defaults,
): Columns<T, Defaults> {
  const named = Object.entries(fields).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "boolean" ? Number(value) : value,
  ]);
  return { ...defaults, ...(Object.fromEntries(named) as Columns<T, Defaults>) };
}
