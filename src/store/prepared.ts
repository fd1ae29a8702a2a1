import {
  type Compilable,
  type Expression,
  type Kysely,
  type OperationNode,
  ValueNode,
} from "kysely";

import type { Database } from "./tables/database.ts";
import type { Dialect } from "./dialect.ts";

/** Parts of which a query is built. */
export interface QueryParts {
  readonly db: Kysely<Database>;
  readonly dialect: Dialect;
}

/** Names a value that is known only when the query is run. */
export interface Parameter<Values> {
  <Name extends keyof Values & string>(name: Name): Expression<Exclude<Values[Name], undefined>>;
  /** Whether one of the optional values is there: each choice of them is a separate query. */
  has(name: keyof Values & string): boolean;
  /** All values, as the columns of a row. */
  row(): Row<Values>;
  /** The items of a list, as rows: each length of a list is a separate query. */
  rows<Name extends keyof Values & string>(name: Name): readonly Row<ItemOf<Values[Name]>>[];
  /** The items of a list themselves, or one field of each. */
  all<Name extends keyof Values & string>(name: Name): readonly Expression<ItemOf<Values[Name]>>[];
  all<Name extends keyof Values & string, Field extends keyof ItemOf<Values[Name]> & string>(
    name: Name,
    field: Field,
  ): readonly Expression<ItemOf<Values[Name]>[Field]>[];
}

type Row<Values> = { readonly [Name in keyof Values]: Expression<Values[Name]> };
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/** A query that is built once for each connection and run with other values each time. */
export interface PreparedQuery<Values, Row> {
  readonly build: (parts: QueryParts, given: Parameter<Values>) => Compilable<Row>;
  readonly optional: readonly (keyof Values & string)[];
}

/** Clients choose which optional values they give, so they could fill the memory with forms. */
const MAX_CACHED_FORMS = 64;
/** Longer lists are rare, and each length that is kept takes memory. */
const MAX_CACHED_LIST = 16;

/**
 * Describes a query whose form does not depend on its values, except for which of the optional ones
 * are given and how long its lists are; it is run by `tx.rows`. Building and compiling one each
 * time costs several times what SQLite needs to run it.
 */
export function prepared<Values, Row>(
  build: (parts: QueryParts, given: Parameter<Values>) => Compilable<Row>,
  optional: readonly (keyof Values & string)[] = [],
): PreparedQuery<Values, Row> {
  return { build, optional };
}

/** A query in an engine's SQL, and its parameters. */
export interface CompiledQuery<Statement> {
  readonly statement: Statement;
  readonly parameters: readonly unknown[];
}

/** Keeps the queries of one connection, compiled when they are first run. */
export function createPreparedQueries<Statement>(
  parts: QueryParts,
  prepare: (sql: string) => Statement,
): <Values, Row>(query: PreparedQuery<Values, Row>, values: Values) => CompiledQuery<Statement> {
  const kept = new WeakMap<object, Map<string, CompiledQuery<Statement>>>();
  return (query, values) => {
    const { form, isShort } = formOf(query, values);
    let compiled = kept.get(query)?.get(form);
    if (compiled === undefined) {
      const { sql, parameters } = query.build(parts, parametersOf(values)).compile();
      compiled = { statement: prepare(sql), parameters };
      if (isShort) {
        const forms = kept.get(query) ?? new Map<string, CompiledQuery<Statement>>();
        if (forms.size >= MAX_CACHED_FORMS) {
          forms.delete(forms.keys().next().value ?? "");
        }
        kept.set(query, forms.set(form, compiled));
      }
    }
    return {
      statement: compiled.statement,
      parameters: compiled.parameters.map((parameter) =>
        parameter instanceof Placeholder ? parameter.valueIn(values) : parameter,
      ),
    };
  };
}

/** Which of the optional values are given, and how long the lists are. */
function formOf<Values>(
  { optional }: PreparedQuery<Values, unknown>,
  values: Values,
): { form: string; isShort: boolean } {
  let form = "";
  let isShort = true;
  for (const name of optional) {
    form += values[name] === undefined ? "-" : "+";
  }
  for (const name in values) {
    const value: unknown = values[name];
    if (Array.isArray(value)) {
      form += `${value.length},`;
      isShort &&= value.length <= MAX_CACHED_LIST;
    }
  }
  return { form, isShort };
}

function parametersOf<Values>(values: Values): Parameter<Values> {
  const items = (name: keyof Values & string) => [...(values[name] as readonly object[]).entries()];
  return Object.assign(
    <Name extends keyof Values & string>(name: Name) =>
      new Placeholder<Exclude<Values[Name], undefined>>(name),
    {
      has: (name: keyof Values & string) => values[name] !== undefined,
      row: () => placeholderRow(Object(values)),
      rows: <Item>(name: keyof Values & string) =>
        items(name).map(([at, item]) => placeholderRow<Item>(item as Item & object, name, at)),
      all: <T>(name: keyof Values & string, field?: string) =>
        items(name).map(([at]) => new Placeholder<T>(name, at, field)),
    },
  );
}

function placeholderRow<Fields>(fields: Fields & object, ...path: readonly (string | number)[]) {
  const row: Record<string, unknown> = {};
  for (const name in fields) {
    row[name] = new Placeholder(...path, name);
  }
  return row as Row<Fields>;
}

/** The place of a value: kysely takes it for the value itself. */
class Placeholder<T> implements Expression<T> {
  readonly #path: readonly (string | number)[];

  constructor(...path: readonly (string | number | undefined)[]) {
    this.#path = path.filter((step) => step !== undefined);
  }

  valueIn(values: unknown): unknown {
    let value = values;
    for (const step of this.#path) {
      value = (value as Readonly<Record<string | number, unknown>>)[step];
    }
    return value;
  }

  get expressionType(): T | undefined {
    return undefined;
  }

  toOperationNode(): OperationNode {
    return ValueNode.create(this);
  }
}
