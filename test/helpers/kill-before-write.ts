import { DatabaseSync, StatementSync } from "node:sqlite";

import { Client } from "pg";

/** Kills this process before its write of number `last`, from 1, to any database; a commit is a write, too. */
export function killBeforeWrite(last: number): void {
  let writes = 0;
  const count = (sql: string): void => {
    if (/^\s*(insert|update|delete|commit)\b/i.test(sql)) {
      writes += 1;
      if (writes === last) {
        process.kill(process.pid, "SIGKILL");
      }
    }
  };
  for (const method of ["all", "get", "run", "iterate"]) {
    wrap(StatementSync.prototype, method, (self) => count(String(Reflect.get(self, "sourceSQL"))));
  }
  wrap(DatabaseSync.prototype, "exec", (_, sql) => count(String(sql)));
  wrap(Client.prototype, "query", (_, query) =>
    count(String(typeof query === "object" && query !== null ? Reflect.get(query, "text") : query)),
  );
}

function wrap(target: object, method: string, before: (self: object, first: unknown) => void) {
  const original = Reflect.get(target, method) as (...values: unknown[]) => unknown;
  Reflect.set(target, method, function (this: object, ...values: unknown[]) {
    before(this, values[0]);
    return original.apply(this, values);
  });
}
