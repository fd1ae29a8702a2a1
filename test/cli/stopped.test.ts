import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { startScriptedProvider, text } from "../helpers/scripted-provider.ts";
import { append, detailOf, rowsOf } from "../helpers/sessions/seed.ts";
import { ID, slowThenFast, startAnswer, WORDS } from "../helpers/slow-answer.ts";

describe("an exchange that is stopped", () => {
  it.each([
    ["SIGINT", "option"],
    ["SIGTERM", "line"],
  ] as const)(
    "[CLI-39] by %s keeps the text that had arrived, and the session continues (message by %s)",
    async (signal, how) => {
      const { home, server } = await slowThenFast();
      const running = await startAnswer(home, how);
      const stopped = await running.stop(signal);
      expect(stopped).toMatchObject({ code: 1, signal: null });
      expect(stopped.stderr).toBe(
        `Stopped. The part above is kept.\nResume with: reprise --session ${ID}\n`,
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

      expect((await home.call(["--session", ID, "-p", "go on"])).stdout).toBe("a short one\n");
      expect(server.requests()[1]?.map(({ role, content }) => [role, content.trimEnd()])).toEqual([
        ["user", "the question"],
        ["assistant", partial],
        ["user", "go on"],
      ]);
    },
  );

  it("[TERM-130] and a command too, after which the rest of the input is not sent", async () => {
    const provider = await startScriptedProvider("openai", (index) =>
      index === 2 ? [text("in "), { kind: "stall" }] : [text(`answer ${index}`)],
    );
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const running = freshHome(provider.env).start([]);
    running.child.stdin?.write("one\ntwo\n/compact\nthree\n");
    await expect.poll(() => provider.requests.length, { timeout: 60_000 }).toBe(3);
    const stopped = await running.stop("SIGINT");
    expect(stopped).toMatchObject({ code: 1, stdout: "answer 0\nanswer 1\n" });
    expect(stopped.stderr).toContain(
      "1 line dropped, not sent.\nStopped; nothing was summarised.\n",
    );
    expect(provider.requests).toHaveLength(3);
  });

  it("[CLI-39] by a reader that closes its end keeps the text that had arrived", async () => {
    const { home } = await slowThenFast();
    const piped = await home.startShell(`reprise --session ${ID} -p 'the question' | head -c 5`)
      .finished;
    expect(piped).toMatchObject({ stdout: "w0 w1" });
    expect(piped.stderr).toBe(
      `Stopped. The part above is kept.\nResume with: reprise --session ${ID}\n`,
    );
    const detail = await detailOf(home, ID);
    expect(detail.activity).toBe("idle");
    expect(rowsOf(detail)).toEqual([
      [1, "user", "the question"],
      [2, "assistant", expect.stringMatching(/^w0 w1 /)],
    ]);
  });

  it("[CLI-40] [CLI-52] by kill -9 blocks nobody: -p skips it, says so and starts at once, and nothing is doubled", async () => {
    const { home, server } = await slowThenFast();
    const running = await startAnswer(home);
    await running.stop("SIGKILL");
    const detail = await detailOf(home, ID);
    expect(detail.activity).toBe("interrupted");
    expect(rowsOf(detail)).toEqual([[1, "user", "the question"]]);
    const skipped = await home.call(["--session", ID, "-p", "go on"]);
    expect(skipped).toMatchObject({ code: 0, stdout: "a short one\n" });
    expect(skipped.stderr).toMatch(
      /^note: The last exchange was interrupted\. This message skips it; --continue-exchange would resume it\.$/m,
    );
    expect(server.requests()[1]?.map(({ content }) => content)).toEqual(["the question", "go on"]);
    expect(rowsOf(await detailOf(home, ID))).toEqual([
      [1, "user", "the question"],
      [2, "user", "go on"],
      [3, "assistant", "a short one"],
    ]);
    expect((await home.call(["--session", ID, "-p", "more"])).stderr).not.toContain("interrupted");
  });

  it.runIf(process.platform === "linux")(
    "[CLI-40] [CLI-52] by kill -9 blocks nobody either while its parent has not asked how it ended",
    async () => {
      const { home } = await slowThenFast();
      // the shell becomes a program that asks for no child
      const parent = home.startShell(
        `reprise --session ${ID} -p 'the question' & echo "pid $!"; exec sleep 600`,
      );
      const [, pid = ""] = await parent.waitFor(/pid (\d+)\n(?=[^]*w0 w1 )/);
      process.kill(Number(pid), "SIGKILL");
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "latin1")).toContain(") Z ");
      expect((await detailOf(home, ID)).activity).toBe("interrupted");
      const skipped = await home.call(["--session", ID, "-p", "go on"]);
      expect(skipped).toMatchObject({ code: 0, stdout: "a short one\n" });
      expect(skipped.stderr).toContain("This message skips it;");
    },
  );

  it("[CLI-52] [EVENT-22] by kill -9 while another message is prepared is skipped by that message, which says so", async () => {
    const { home, server } = await slowThenFast();
    const running = await startAnswer(home);
    const config = join(home.home, ".config/reprise/config.jsonc");
    mkdirSync(dirname(config), { recursive: true });
    // run after the session was read, and before the message takes it
    const kill = `kill -9 ${running.pid}; while kill -0 ${running.pid}; do sleep 0.01; done; echo key`;
    const key_command = [
      "/bin/sh",
      "-c",
      `if kill -0 ${running.pid}; then ${kill}; else echo key; fi`,
    ];
    writeFileSync(config, JSON.stringify({ providers: { openai: { key_command } } }), {
      mode: 0o600,
    });
    const env = { OPENAI_API_KEY: undefined };

    const skipped = await home.call(["--session", ID, "-p", "go on"], { env });

    expect(skipped).toMatchObject({ code: 0, stdout: "a short one\n" });
    expect(skipped.stderr).toContain(
      "note: The exchange before it was interrupted. This message skips it.\n",
    );
    expect(server.requests()[1]?.map(({ content }) => content)).toEqual(["the question", "go on"]);
    const { stdout } = await home.call(["--session", ID, "-p", "more", "--json=events"], { env });
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).not.toHaveProperty("skips");
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

describe("an interrupted exchange", () => {
  it("[CLI-52] is reported on resuming and calls no model; /continue resumes it", async () => {
    const { home, server } = await slowThenFast();
    await (await startAnswer(home)).stop("SIGKILL");
    const looked = await home.call(["sessions", "resume", ID]);
    expect(looked).toMatchObject({ code: 0, stdout: "" });
    expect(looked.stderr).toMatch(/^note: The last exchange was interrupted. Type \/continue to/);
    expect(server.requests()).toHaveLength(1);

    const continued = await home.call(["--session", ID], { input: "/continue\n" });
    expect(continued).toMatchObject({ code: 0, stdout: "a short one\n" });
    expect(server.requests()[1]?.map(({ content }) => content)).toEqual(["the question"]);
    expect(rowsOf(await detailOf(home, ID))).toEqual([
      [1, "user", "the question"],
      [2, "assistant", "a short one"],
    ]);
    expect((await home.call(["--session", ID])).stderr).not.toContain("interrupted");
  });

  it("[CLI-52] [CLI-122] --continue-exchange continues it or hands over what was appended, else it is refused", async () => {
    const { home, server } = await slowThenFast();
    await (await startAnswer(home)).stop("SIGKILL");
    const go = ["--session", ID, "--continue-exchange"];
    const document = await home.json<{ answer: string; last_seq: number }>([...go, "--json"]);
    expect(document).toMatchObject({ answer: "a short one", last_seq: 2 });

    const nothing = await home.call(go);
    expect(nothing).toMatchObject({ code: 1, stdout: "" });
    expect(nothing.stderr).toMatch(/^reprise: [^\n]+ \[nothing_to_continue\]\n/);
    expect(await detailOf(home, ID)).toMatchObject({ activity: "idle", last_seq: 2 });

    await append(home, ID, "appended");
    expect(await home.call(go)).toMatchObject({ code: 0, stdout: "a short one\n" });
    expect(server.requests().map((messages) => messages.map(({ content }) => content))).toEqual([
      ["the question"],
      ["the question"],
      ["the question", "a short one", "appended"],
    ]);
    for (const args of [["--continue-exchange"], [...go, "-p", "hi"]]) {
      expect(await home.call(args)).toMatchObject({ code: 2, stdout: "" });
    }
  });
});
