import {
  type CompiledQuery,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type { ClientBase } from "pg";

import { createKysely, parameterOf } from "../connection.ts";
import { createPreparedQueries, type PreparedQuery } from "../../prepared.ts";
import type { Database } from "../../tables/database.ts";
import type { Tx } from "../../store.ts";
import { postgresDialect } from "./dialect.ts";
import { isLoss } from "./failure.ts";

/** Connection to the server: kysely for the queries, `run` for BEGIN, COMMIT and settings. */
export interface PostgresConnection {
  readonly db: Kysely<Database>;
  readonly rows: Tx["rows"];
  /** The value of `SERVER_LIFE`; null behind a pooler, where it may change between transactions. */
  readonly server: string | null;
  /**
   * Statements without parameters. Answers with the last one's command and rows, and whether the server
   * warned of anything meanwhile.
   */
  run(sql: string): Promise<Pick<Answered, "command" | "rows"> & { readonly hasWarned: boolean }>;
  /** True if a statement has changed a row since the last BEGIN. */
  readonly hasChanged: boolean;
  /** Error that ended the connection; null while it is of use. */
  readonly loss: unknown;
}

interface Wrapped extends Pick<PostgresConnection, "server"> {
  /** True for an error that shows that the server is not the one to use. */
  readonly isMisplaced: (error: unknown) => boolean;
}

/** Throws the client library's own errors: the caller turns them into sentences. */
export function wrapClient(
  client: ClientBase,
  { server, isMisplaced }: Wrapped,
): PostgresConnection {
  let loss: unknown = null;
  let hasChanged = false;
  let warnings = 0;
  const noticed = (error: unknown): unknown => {
    if (isLoss(error) || isMisplaced(error)) {
      loss ??= error;
    }
    return error;
  };
  // without a listener an error event would end the process
  client.on("error", noticed);
  client.on("notice", () => (warnings += 1));
  const query = async (text: string, values?: readonly unknown[]): Promise<Answered[]> => {
    // outside, because a value that no database stores says nothing about the connection
    const parameters = values?.map(postgresValue);
    try {
      const answer: Answered | Answered[] = await client.query(text, parameters);
      const answers = Array.isArray(answer) ? answer : [answer];
      for (const { command, rowCount } of answers) {
        hasChanged =
          command !== "BEGIN" && (hasChanged || (CHANGES.has(command) && rowCount !== 0));
      }
      return answers;
    } catch (error) {
      throw noticed(error);
    }
  };
  const execute = async <R>(compiled: CompiledQuery): Promise<QueryResult<R>> => {
    const [answer] = await query(compiled.sql, compiled.parameters);
    return { rows: (answer?.rows ?? []) as R[], numAffectedRows: BigInt(answer?.rowCount ?? 0) };
  };
  const db = createKysely(KYSELY_WORDS, execute);
  return {
    db,
    rows: preparedRows(db, query),
    server,
    run: async (sql) => {
      const before = warnings;
      const last = (await query(sql)).at(-1);
      const hasWarned = warnings > before;
      return { command: last?.command ?? "", rows: last?.rows ?? [], hasWarned };
    },
    get hasChanged() {
      return hasChanged;
    },
    get loss() {
      return loss;
    },
  };
}

function preparedRows(
  db: Kysely<Database>,
  query: (text: string, values: readonly unknown[]) => Promise<Answered[]>,
): Tx["rows"] {
  const compile = createPreparedQueries({ db, dialect: postgresDialect }, (sql) => sql);
  return async <Values, Row>(prepared: PreparedQuery<Values, Row>, values: Values) => {
    const { statement, parameters } = compile(prepared, values);
    const [answer] = await query(statement, parameters);
    return (answer?.rows ?? []) as Row[];
  };
}

const CHANGES: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

interface Answered {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: Readonly<Record<string, unknown>>[];
}

const KYSELY_WORDS = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};

function postgresValue(value: unknown): string | number | bigint | null | Buffer {
  const parameter = parameterOf(value);
  return parameter instanceof Uint8Array
    ? Buffer.from(parameter.buffer, parameter.byteOffset, parameter.byteLength)
    : parameter;
}
