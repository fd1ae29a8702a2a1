import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

import type { ModelServer } from "./model-server.ts";
import type { Finished, Running } from "./process.ts";
import { startProgram } from "./start-program.ts";

export interface ExchangeOptions {
  readonly text: string;
  /** The default is 2000. */
  readonly leaseMs?: number;
  readonly whenBusy?: "refuse" | "wait" | "take_over";
}

/** What the program printed last. */
export interface Outcome {
  readonly kind: "done" | "refused";
  readonly code?: string;
  readonly message?: string;
  readonly answer?: string;
}

/** Starts a process with an exchange that waits for `go`; everything slow is loaded by then. */
export async function startExchange(input: {
  readonly server: ModelServer;
  readonly database: string;
  readonly id: string;
  readonly options: ExchangeOptions;
}): Promise<Running> {
  const { server, database, id } = input;
  const options = { leaseMs: 2000, whenBusy: "refuse", ...input.options };
  const running = startProgram("store-exchange.ts", [database, id, JSON.stringify(options)], {
    env: { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" },
  });
  await running.waitFor(/"ready"/);
  return running;
}

export function go(running: Running): void {
  running.child.stdin?.write("go\n");
}

export function outcomeOf({ code, stdout, stderr }: Finished): Outcome {
  if (code !== 0 || stderr !== "") {
    throw new Error(`the process ended with ${code}: ${stderr}`);
  }
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "null") as Outcome;
}

/**
 * Stops a process (SIGSTOP) while it holds no lock of the database: stopped inside a transaction,
 * it would rightly hold up everybody else. A process that has ended stays ended.
 */
export async function stopBetweenWrites(running: Running, database: string): Promise<void> {
  for (;;) {
    running.child.kill("SIGSTOP");
    while (stateOf(running.pid) === "at work") {
      await sleep(1);
    }
    if (stateOf(running.pid) === "gone" || mayWrite(database)) {
      return;
    }
    running.child.kill("SIGCONT");
    await sleep(3);
  }
}

function stateOf(pid: number): "at work" | "stopped" | "gone" {
  try {
    const [, state] = /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return state === "T" ? "stopped" : state === "Z" || state === "X" ? "gone" : "at work";
  } catch {
    return "gone";
  }
}

function mayWrite(database: string): boolean {
  using file = new DatabaseSync(database, { timeout: 0 });
  try {
    file.exec("BEGIN IMMEDIATE; ROLLBACK");
    return true;
  } catch {
    return false;
  }
}
