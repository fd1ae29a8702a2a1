import { onTestFinished } from "vitest";

import { type ModelServer, startModelServer } from "./model-server.ts";
import type { Running } from "./process.ts";
import { freshHome, type Home } from "./reprise.ts";
import {
  type ScriptedProvider,
  startScriptedProvider,
  type Step,
  text,
} from "./scripted-provider.ts";
import { idLike, seed } from "./sessions/seed.ts";

/** The session of `slowThenFast`. */
export const ID = idLike("abcdef1");
export const WORDS = Array.from({ length: 400 }, (_, index) => `w${index}`).join(" ");

/** The first answer takes 20 s and more, where no shorter one is given; every later one is short. */
export async function slowThenFast(first = WORDS): Promise<{ home: Home; server: ModelServer }> {
  const server = await startModelServer({
    answer: (_, index) => ({ content: index === 0 ? first : "a short one" }),
    latencyMs: 100,
    chunkSize: 8,
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  await seed(home, { id: ID });
  return { home, server };
}

export interface HeldAnswer {
  readonly home: Home;
  readonly provider: ScriptedProvider;
  /** Sends the rest of the first answer. */
  release(): void;
}

/** The first answer stops after two words until it is released, and ends with `rest`; every later one is short. */
export async function heldThenFast(rest: Step = text("and the rest")): Promise<HeldAnswer> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const provider = await startScriptedProvider("openai", (index) =>
    index === 0 ? [text("w0 w1 "), { kind: "wait", until: promise }, rest] : [text("a short one")],
  );
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome(provider.env);
  await seed(home, { id: ID });
  return { home, provider, release: () => resolve() };
}

/** Starts an exchange and waits until some of its answer has been shown. */
export async function startAnswer(home: Home, how: "option" | "line" = "option"): Promise<Running> {
  const running = home.start([
    "--session",
    ID,
    ...(how === "option" ? ["-p", "the question"] : []),
  ]);
  if (how === "line") {
    running.child.stdin?.write("the question\n");
  }
  await running.waitFor(/w0 w1 /);
  return running;
}
