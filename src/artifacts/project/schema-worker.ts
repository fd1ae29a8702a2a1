import { parentPort, workerData } from "node:worker_threads";

import { createCheckValue, type CheckValue, type Verdict } from "./check-value.ts";
import type { JsonValue } from "../source.ts";
import type { SetSchema } from "./schema-set.ts";

/** One thing to do; the thread answers it before it takes the next. */
export interface CheckOrder {
  readonly id: string;
  /** Left out if only the schema itself is to be checked. */
  readonly document?: { readonly value: JsonValue };
}

/** What the thread sends: first that it has loaded, then an answer to each order. */
export type WorkerAnswer = { readonly kind: "ready" } | Verdict;

const send = (answer: WorkerAnswer): void => parentPort?.postMessage(answer);

const createChecker = await createCheckValue();
let check: CheckValue | undefined;

parentPort?.on("message", (order: CheckOrder) => {
  // reading the set is part of the first order's time: its files are foreign too
  check ??= createChecker(workerData as readonly SetSchema[]);
  void check(order.id, order.document).then(send);
});
send({ kind: "ready" });
