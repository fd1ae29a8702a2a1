import { type Compilable, type Expression, type OperationNode, ValueNode } from "kysely";

import type { Tx } from "../store.ts";

/** What a query is built of. */
export type QueryParts = Pick<Tx, "db" | "dialect">;

/** Names a value that is known only when the query is carried out. */
export interface Parameter<Values> {
  <Name extends keyof Values & string>(name: Name): Expression<Exclude<Values[Name], undefined>>;
  /** Whether one of the optional values is there: each choice of them is a query of its own. */
  has(name: keyof Values & string): boolean;
}

/** A query that is built once for each connection and carried out with other values each time. */
export interface PreparedQuery<Values, Row> {
  readonly build: (parts: QueryParts, given: Parameter<Values>) => Compilable<Row>;
  readonly optional: readonly (keyof Values & string)[];
}

/**
 * Describes a query whose form does not depend on its values, but for which of the optional ones
 * are given; it is carried out by `tx.rows`. Building and compiling one anew costs several times
 * what SQLite takes to carry it out.
 */
export function prepared<Values, Row>(
  build: (parts: QueryParts, given: Parameter<Values>) => Compilable<Row>,
  optional: readonly (keyof Values & string)[] = [],
): PreparedQuery<Values, Row> {
  return { build, optional };
}

/** A query in an engine's own words, and what stands in its places. */
export interface CompiledQuery<Statement> {
  readonly statement: Statement;
  readonly parameters: readonly unknown[];
}

/** Keeps the queries of one connection, compiled when they are first carried out. */
export function createPreparedQueries<Statement>(
  parts: QueryParts,
  prepare: (sql: string) => Statement,
): <Values, Row>(query: PreparedQuery<Values, Row>, values: Values) => CompiledQuery<Statement> {
  const kept = new WeakMap<object, Map<number, CompiledQuery<Statement>>>();
  return (query, values) => {
    const form = formOf(query, values);
    let compiled = kept.get(query)?.get(form);
    if (compiled === undefined) {
      const { sql, parameters } = query.build(parts, givenIn(query, form)).compile();
      compiled = { statement: prepare(sql), parameters };
      kept.set(query, (kept.get(query) ?? new Map()).set(form, compiled));
    }
    return {
      statement: compiled.statement,
      parameters: compiled.parameters.map((parameter) =>
        parameter instanceof Blank ? values[parameter.name as keyof typeof values] : parameter,
      ),
    };
  };
}

/** Which of the optional values are given, a bit for each. */
function formOf<Values>({ optional }: PreparedQuery<Values, unknown>, values: Values): number {
  let form = 0;
  for (const name of optional) {
    form = form * 2 + (values[name] === undefined ? 0 : 1);
  }
  return form;
}

function givenIn<Values>(
  { optional }: PreparedQuery<Values, unknown>,
  form: number,
): Parameter<Values> {
  const last = optional.length - 1;
  return Object.assign(
    <Name extends keyof Values & string>(name: Name) =>
      new Blank<Exclude<Values[Name], undefined>>(name),
    {
      has: (name: keyof Values & string) => ((form >> (last - optional.indexOf(name))) & 1) === 1,
    },
  );
}

/** The place of a value: kysely takes it for the value itself. */
class Blank<T> implements Expression<T> {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  get expressionType(): T | undefined {
    return undefined;
  }

  toOperationNode(): OperationNode {
    return ValueNode.create(this);
  }
}
