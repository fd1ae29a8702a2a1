import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Something that all test files of a run share. */
export interface Shared<T> {
  /** What a test file gets to know, as JSON. */
  readonly told: T;
  stop(): Promise<void>;
}

/**
 * For a globalSetup of vitest.config.ts: starts what tests share once the first of them asks, so
 * that a run without such a test does not wait for it. `variable` shows the tests'
 * processes where to ask. Gives back what stops it.
 */
export async function onFirstAsk<T>(
  variable: string,
  start: () => Promise<Shared<T>>,
): Promise<() => Promise<void>> {
  if (process.env[variable] !== undefined) {
    // each project of vitest.config.ts calls this, and they share one
    return () => Promise.resolve();
  }
  let shared: Promise<Shared<T>> | null = null;
  const starter = createServer((_, response) => {
    shared ??= start();
    shared.then(
      ({ told }) => response.end(JSON.stringify(told)),
      (error: unknown) => {
        console.error(error);
        response.writeHead(500).end();
      },
    );
  });
  starter.listen(0, "127.0.0.1");
  await once(starter, "listening");
  process.env[variable] = `http://127.0.0.1:${(starter.address() as AddressInfo).port}`;
  return async () => {
    starter.closeAllConnections();
    starter.close();
    await (await shared?.catch(() => null))?.stop();
  };
}

/** What test files get to know of the resource of `variable`, once it has started. */
export async function ask<T>(variable: string): Promise<T> {
  const starter = process.env[variable];
  if (starter === undefined) {
    throw new Error(`${variable} is set by the globalSetup of vitest.config.ts`);
  }
  const answer = await fetch(starter);
  if (!answer.ok) {
    throw new Error(`What ${variable} stands for did not start; the run's output says why`);
  }
  return (await answer.json()) as T;
}
