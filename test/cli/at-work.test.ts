import { hostname } from "node:os";

import { describe, expect, it } from "vitest";

import { type ModelServer, startModelServer } from "../helpers/model-server.ts";
import type { Running } from "../helpers/process.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { detailOf, idLike, rowsOf, seed } from "./seed.ts";

const ID = idLike("abcdef1");
const WORDS = Array.from({ length: 400 }, (_, index) => `w${index}`).join(" ");

/** The first answer takes 20 s and more, where no shorter one is given; every later one is short. */
async function slowThenFast(first = WORDS): Promise<{ home: Home; server: ModelServer }> {
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
async function startAnswer(home: Home, how: "option" | "line" = "option"): Promise<Running> {
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

describe("while an exchange is at work", () => {
  it("[CLI-38] another one is refused and told who is at work; its message is not stored", async () => {
    const { home, server } = await slowThenFast();
    const running = await startAnswer(home);
    const refused = await home.run(["--session", ID, "-p", "in between"]);
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toContain(`process ${running.pid} on ${hostname()}`);
    expect(refused.stderr).toMatch(/since \d{4}-\S+Z[^\n]* \[session_busy\]\n/);
    const cleared = await home.run(["--session", ID, "--json"], { input: "/clear\n" });
    expect(cleared).toMatchObject({ code: 6, stdout: "" });
    expect(JSON.parse(cleared.stderr)).toMatchObject({
      code: "session_busy",
      detail: expect.stringContaining(`process ${running.pid}`),
    });
    expect(await home.run(["sessions", "list"])).toMatchObject({
      stdout: expect.stringContaining("running"),
    });
    const detail = await detailOf(home, ID);
    expect(detail).toMatchObject({ activity: "running" });
    expect(rowsOf(detail)).toEqual([[1, "user", "the question"]]);
    expect(server.requests()).toHaveLength(1);
  });

  it("[CLI-41] ending the session stops it: nothing more is stored", async () => {
    // noticed at the next checkpoint, at the latest when the lease is renewed
    const { home } = await slowThenFast(WORDS.slice(0, 150));
    const running = await startAnswer(home);
    expect((await home.run(["sessions", "end", ID])).code).toBe(0);
    const stopped = await running.finished;
    expect(stopped.code).toBe(5);
    expect(stopped.stderr).toMatch(/^reprise: The session was ended[^\n]* \[session_ended\]\n$/);
    const detail = await detailOf(home, ID);
    expect(detail).toMatchObject({ state: "ended", activity: "idle" });
    expect(rowsOf(detail)).toEqual([[1, "user", "the question"]]);
  });
});

describe("an exchange that is stopped", () => {
  it.each([
    ["SIGINT", "option"],
    ["SIGTERM", "option"],
    ["SIGINT", "line"],
    ["SIGHUP", "line"],
  ] as const)(
    "[CLI-39] by %s keeps what had arrived, and the session goes on (message by %s)",
    async (signal, how) => {
      const { home, server } = await slowThenFast();
      const running = await startAnswer(home, how);
      const stopped = await running.stop(signal);
      expect(stopped).toMatchObject({ code: 1, signal: null });
      expect(stopped.stderr).toBe(
        `Stopped; what had arrived is kept.\nResume with: reprise --session ${ID}\n`,
      );
      const partial = stopped.stdout.trimEnd();
      const detail = await detailOf(home, ID);
      expect(detail.activity).toBe("idle");
      expect(rowsOf(detail)).toEqual([
        [1, "user", "the question"],
        [2, "assistant", expect.stringMatching(/^w0 w1 /)],
      ]);
      expect(detail.messages[1]?.content.trimEnd()).toBe(partial);
      expect(WORDS.startsWith(partial)).toBe(true);
      expect(partial.length).toBeLessThan(WORDS.length);

      expect((await home.run(["--session", ID, "-p", "go on"])).stdout).toBe("a short one\n");
      expect(server.requests()[1]?.map(({ role, content }) => [role, content.trimEnd()])).toEqual([
        ["user", "the question"],
        ["assistant", partial],
        ["user", "go on"],
      ]);
    },
  );

  it("[CLI-40] by kill -9 holds up nobody: the next one goes on at once, and nothing doubles", async () => {
    const { home, server } = await slowThenFast();
    const running = await startAnswer(home);
    await running.stop("SIGKILL");
    expect(rowsOf(await detailOf(home, ID))).toEqual([[1, "user", "the question"]]);
    expect(await home.run(["--session", ID, "-p", "go on"])).toMatchObject({
      code: 0,
      stdout: "a short one\n",
    });
    expect(server.requests()[1]?.map(({ content }) => content)).toEqual(["the question", "go on"]);
    expect(rowsOf(await detailOf(home, ID))).toEqual([
      [1, "user", "the question"],
      [2, "user", "go on"],
      [3, "assistant", "a short one"],
    ]);
  });

  it("[CLI-40] by kill -9 leaves its session open to slash commands at once", async () => {
    const { home, server } = await slowThenFast();
    await (await startAnswer(home)).stop("SIGKILL");
    const cleared = await home.json<{ thread_id: string }>(["--session", ID, "--json"], {
      input: "/clear\nafresh\n",
    });
    expect(cleared.thread_id).toBe(`${ID}:1`);
    expect(server.requests()[1]?.map(({ content }) => content)).toEqual(["afresh"]);
  });
});
