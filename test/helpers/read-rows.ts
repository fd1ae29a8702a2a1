import { StatementSync } from "node:sqlite";

import { Client } from "pg";
import { onTestFinished } from "vitest";

/** How many rows this process has read from its databases, of either engine, while `work` ran. */
export async function rowsReadBy(work: () => Promise<unknown>): Promise<number> {
  let rows = 0;
  const { all, get } = StatementSync.prototype;
  const { query } = Client.prototype;
  StatementSync.prototype.all = function (this: StatementSync, ...values: never[]) {
    const result = Reflect.apply(all, this, values) as ReturnType<StatementSync["all"]>;
    rows += result.length;
    return result;
  };
  StatementSync.prototype.get = function (this: StatementSync, ...values: never[]) {
    const result = Reflect.apply(get, this, values) as ReturnType<StatementSync["get"]>;
    rows += result === undefined ? 0 : 1;
    return result;
  };
  Reflect.set(Client.prototype, "query", async function (this: Client, ...values: never[]) {
    const result: unknown = await Reflect.apply(query, this, values);
    const found: unknown = Reflect.get(Object(result), "rows");
    rows += Array.isArray(found) ? found.length : 0;
    return result;
  });
  const undo = (): void => {
    Object.assign(StatementSync.prototype, { all, get });
    Object.assign(Client.prototype, { query });
  };
  onTestFinished(undo);
  await work();
  undo();
  return rows;
}
