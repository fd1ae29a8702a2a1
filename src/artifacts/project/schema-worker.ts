import { parentPort, workerData } from "node:worker_threads";

import { createCheckValue, type CheckOrder, type CheckValue, type Verdict } from "./check-value.ts";
import type { SetSchema } from "./schema-set.ts";

/** Message of the thread: first that it has loaded, then an answer to each order. */
export type WorkerAnswer = { readonly kind: "ready" } | Verdict;

const send = (answer: WorkerAnswer): void => parentPort?.postMessage(answer);

const createChecker = await createCheckValue();
let check: CheckValue | undefined;

parentPort?.on("message", (order: CheckOrder) => {
  // reading the set is part of the first order's time: its files are foreign too
  check ??= createChecker(workerData as readonly SetSchema[]);
  void check(order).then(send);
});
send({ kind: "ready" });
