import { type ModelServer, startModelServer } from "./model-server.ts";
import type { Running } from "./process.ts";
import { freshHome, type Home } from "./reprise.ts";
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
