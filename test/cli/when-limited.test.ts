import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { startProvider } from "../helpers/providers/start.ts";
import { type Step, text } from "../helpers/providers/steps.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openScreen } from "../helpers/screen.ts";

const limited = (seconds: string): Step => ({
  kind: "status",
  status: 429,
  headers: { "retry-after": seconds },
});

async function aHome(answer: (index: number) => readonly Step[]) {
  const provider = await startProvider("anthropic", answer);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const home = freshHome({ ...provider.env, REPRISE_MODEL: "anthropic:claude-sonnet-5-5" });
  return { home, provider };
}

it("[LIMITED-5] -p --when-limited wait continues the exchange once the limit is over, and says until when it waits", async () => {
  // three attempts each
  const { home, provider } = await aHome((index) =>
    index < 6 ? [limited("0")] : [text("answer")],
  );
  const { code, stdout, stderr } = await home.call(["-p", "question", "--when-limited", "wait"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "answer\n" });
  expect(stderr.match(/Waiting until \d\d:\d\d; Ctrl-C ends it\./g)).toHaveLength(2);
  expect(provider.received).toHaveLength(7);
  const listed = await home.call(["--continue", "--any", "-p", "more", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ last_seq: 4 });
});

it("[LIMITED-5] without it, and if nobody knows when the limit is over, the exchange fails with the next step", async () => {
  const { home } = await aHome(() => [limited("1200")]);
  const once = await home.call(["-p", "question"]);
  expect(once.code).toBe(1);
  expect(once.stderr).toContain("With --when-limited wait, it waits for the end of the limit.");
  const unknown = await aHome(() => [{ kind: "status", status: 402 }]);
  const failed = await unknown.home.call(["-p", "question", "--when-limited", "wait"]);
  expect(failed.code).toBe(1);
  expect(failed.stderr).not.toContain("--when-limited");
  expect(await home.call(["--when-limited", "wait"], { input: "x\n" })).toMatchObject({ code: 2 });
});

it("[LIMITED-8] no command waits longer than 8 days, and says so", async () => {
  const day = 24 * 3600;
  const { home } = await aHome(() => [limited(String(9 * day))]);
  const waiting = await home.call(["-p", "question", "--when-limited", "wait"]);
  expect(waiting.code).toBe(1);
  const why = /The limit resets at \d{4}-\S+ \d\d:\d\d; no command waits longer than 8 days\./;
  expect(waiting.stderr).toMatch(why);
  expect(waiting.stderr).toMatch(
    /It asks to wait 9 days\. .*--continue-exchange asks .*\[model_rate_limited\]$/m,
  );
  expect(waiting.stderr).not.toContain("With --when-limited wait");
  const typed = await home.call(["--continue", "--any"], { input: "/continue when-reset\n" });
  expect(typed.stderr).toMatch(why);
  expect(typed.stderr).toMatch(/\/continue asks again now\. \[invalid_usage\]$/m);
});

it("[LIMITED-5] Ctrl-C ends the wait, and nothing continues by itself", async () => {
  const { home, provider } = await aHome(() => [limited("1200")]);
  const program = home.start(["-p", "question", "--when-limited", "wait"]);
  while (!program.stderr().includes("Waiting until")) {
    await sleep(20);
  }
  expect(await program.stop("SIGINT")).toMatchObject({ code: 1 });
  expect(program.stderr()).toContain("--continue-exchange asks for its answer again.");
  expect(provider.received).toHaveLength(1);
});

it("[LIMITED-6] in a session, /continue when-reset waits for the limit at which the last exchange failed", async () => {
  const { home, provider } = await aHome((index) =>
    index < 3 ? [limited("0")] : [text("answer")],
  );
  const failed = await home.call([], { input: "question\n" });
  expect(failed.code).toBe(1);
  const { stdout, stderr, code } = await home.call(["--continue", "--any"], {
    input: "/continue when-reset\n/continue when-reset\n",
  });
  expect(stdout).toContain("answer");
  expect(stderr).toMatch(/Waiting until \d\d:\d\d; Ctrl-C stops that\./);
  expect(stderr).toContain("has reached no limit whose end is known");
  expect(code).not.toBe(0);
  expect(provider.received).toHaveLength(4);
});

it.each([
  ["Ctrl-C", "\u0003"],
  ["Esc", "\u001b"],
])("[LIMITED-6] %s stops the wait of a session on a terminal", async (_, key) => {
  const { home, provider } = await aHome(() => [limited("1200")]);
  const screen = openScreen(home, "exec reprise", { env: { NO_COLOR: "1" } });
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("question\r");
  await screen.until(/The limit resets at [^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/continue when-reset\r");
  await screen.until(/Waiting until \d\d:\d\d[^]*^[a-z]+ ⇧⇥ · working · /m);
  screen.type(key);
  const shown = await screen.until(/Waiting until[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  expect(shown).toMatch(/Waiting until \d\d:\d\d; Ctrl-C stops that\.\nStopped\./);
  expect(provider.received).toHaveLength(1);
  screen.type("\u0004");
  await screen.finished;
});
