import { DatabaseSync, StatementSync } from "node:sqlite";

import { Client } from "pg";
import { onTestFinished } from "vitest";

/** What this process has sent to its databases, of either engine. */
export interface SentStatements {
  /** Without those that begin and end transactions and savepoints, and hints to other nodes. */
  readonly statements: readonly string[];
  readonly transactions: number;
}

/**
 * Runs `work` and returns what it sent; `work` gets a function that returns what was sent so far. The
 * drivers' own functions are wrapped: every statement goes through them, however it was made. More than `max` are refused:
 * a walk in a circle ends.
 */
export async function statementsOf(
  work: (soFar: () => SentStatements) => Promise<unknown>,
  { max = Infinity }: { readonly max?: number } = {},
): Promise<SentStatements> {
  const sent: string[] = [];
  const note = (...statements: readonly string[]): void => {
    sent.push(...statements);
    if (sent.length > max) {
      throw new Error(`more than ${max} statements: ${sent.slice(-3).join("; ")}`);
    }
  };
  const undo = [
    ...(["all", "get", "run", "iterate"] as const).map((method) =>
      wrap(StatementSync.prototype, method, (statement) => note(statement.sourceSQL)),
    ),
    wrap(DatabaseSync.prototype, "exec", (_, sql) => note(...split(sql))),
    wrap(Client.prototype, "query", (_, query: unknown) => note(...split(query))),
  ];
  const stop = (): void => undo.splice(0).forEach((one) => one());
  onTestFinished(stop);
  await work(() => counted(sent));
  stop();
  return counted(sent);
}

function counted(sent: readonly string[]): SentStatements {
  return {
    statements: sent.filter(
      (sql) => !/^(begin|commit|rollback|savepoint|release)\b/i.test(sql) && !NOT_WORK.test(sql),
    ),
    transactions: sent.filter((sql) => /^begin\b/i.test(sql)).length,
  };
}

/**
 * The transaction's number comes along with its BEGIN; a hint goes out on a separate connection.
 */
const NOT_WORK = /pg_current_xact_id|pg_notify|^listen\b/i;

function split(query: unknown): string[] {
  const text = typeof query === "string" ? query : Reflect.get(query as object, "text");
  return String(text)
    .split(";")
    .map((sql) => sql.trim())
    .filter((sql) => sql !== "");
}

function wrap<Target extends object>(
  target: Target,
  method: keyof Target & string,
  note: (self: Target, ...values: never[]) => unknown,
): () => void {
  const original = target[method] as (...values: never[]) => unknown;
  Reflect.set(target, method, function (this: Target, ...values: never[]) {
    note(this, ...values);
    return original.apply(this, values);
  });
  return () => Reflect.set(target, method, original);
}
