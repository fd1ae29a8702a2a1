import { type Compilable, type Expression, type OperationNode, ValueNode } from "kysely";

import type { Tx } from "./store.ts";

/** What a query is built of. */
export type QueryParts = Pick<Tx, "db" | "dialect">;

/** Names a value that is known only when the query is carried out. */
export interface Given<Values> {
  <Name extends keyof Values & string>(name: Name): Expression<Values[Name]>;
}

/** A query that is built once for each connection and carried out with other values each time. */
export interface PreparedQuery<Values, Row> {
  readonly build: (parts: QueryParts, given: Given<Values>) => Compilable<Row>;
}

/** A prepared query in an engine's own words. */
export interface Statement<Values> {
  readonly sql: string;
  readonly parametersOf: (values: Values) => readonly unknown[];
}

/**
 * Describes a query whose form does not depend on its values, to be carried out by `tx.rows`.
 * Building and compiling one anew costs several times what SQLite takes to carry it out.
 */
export function prepared<Values, Row>(
  build: (parts: QueryParts, given: Given<Values>) => Compilable<Row>,
): PreparedQuery<Values, Row> {
  return { build };
}

/** Builds and compiles the query. */
export function compileQuery<Values, Row>(
  query: PreparedQuery<Values, Row>,
  parts: QueryParts,
): Statement<Values> {
  const { sql, parameters } = query.build(parts, (name) => new Blank(name)).compile();
  return {
    sql,
    parametersOf: (values) =>
      parameters.map((parameter) =>
        parameter instanceof Blank ? values[parameter.name as keyof Values] : parameter,
      ),
  };
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
