import { expect, it } from "vitest";

import { freshHome, type Home } from "../helpers/reprise.ts";
import { startScriptedProvider } from "../helpers/scripted-provider.ts";
import { append, detailOf, idLike, rowsOf, seed, sessionsOf } from "../helpers/sessions/seed.ts";
import { heldThenFast, ID, startAnswer } from "../helpers/slow-answer.ts";
import { GUEST } from "../../src/core/principal.ts";

const CONTINUE = "--continue-exchange";
const REVIEWER = ["--persona", "reviewer"];

it.each([
  ["--persona", REVIEWER],
  ["--model", ["--model", "demo:echo"]],
  ["--plan", ["--plan"]],
  ["--repo", ["--repo", "."]],
])(
  "[CLI-116] [CLI-122] %s with nothing to continue leaves the session unchanged",
  async (_, choice) => {
    const home = freshHome();
    await seed(home, { id: ID, model: "openai:test" });
    const before = await storedOf(home);
    const refused = await home.call(["--session", ID, CONTINUE, ...choice], {
      env: { OPENAI_API_KEY: "none" },
    });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^reprise: [^\n]+ \[nothing_to_continue\]\n/);
    expect(await storedOf(home)).toEqual(before);
  },
);

it("[CLI-116] [CLI-122] another model cannot continue an exchange that failed, and leaves it unchanged", async () => {
  await using provider = await startScriptedProvider("openai", (index) =>
    index === 0 ? [{ kind: "status", status: 400 }] : [{ kind: "text", text: "the answer" }],
  );
  const home = freshHome(provider.env);
  await seed(home, { id: ID });
  await home.call(["--session", ID, "-p", "the question"]);
  const before = await storedOf(home);

  const refused = await home.call(["--session", ID, CONTINUE, "--model", "openai:other"]);

  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/^reprise: Another model or persona [^\n]+ \[nothing_to_cont/);
  expect(await storedOf(home)).toEqual(before);
  expect(await home.call(["--session", ID, CONTINUE])).toMatchObject({ stdout: "the answer\n" });
});

it("[CLI-122] another persona continues with a message that was appended", async () => {
  const home = freshHome();
  await seed(home, { id: ID, persona_name: "assistant" });
  await append(home, ID, "appended");
  const { code, stdout } = await home.call(["--session", ID, CONTINUE, ...REVIEWER]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("appended") });
  expect(await detailOf(home, ID)).toMatchObject({ persona_name: "reviewer" });
});

it.each([
  ["whose model has no key", { model: "openai:test" }, {}, "model_key_missing"],
  [
    "whose model nobody confirmed",
    { model: "openai:test", principal: GUEST },
    { OPENAI_API_KEY: "none" },
    "not_confirmed",
  ],
] as const)(
  "[CLI-116] a message with --persona to a session %s leaves it unchanged",
  async (_, columns, env, code) => {
    const home = freshHome();
    await seed(home, { id: ID, ...columns });
    const before = await storedOf(home);
    const refused = await home.call(["--session", ID, "-p", "hello", ...REVIEWER], { env });
    expect(refused.stdout).toBe("");
    expect(refused.stderr).toContain(`[${code}]`);
    expect(await storedOf(home)).toEqual(before);
  },
);

it("[CLI-36] [CLI-116] a text that cannot be stored leaves the session unchanged", async () => {
  const home = freshHome();
  await seed(home, { id: ID });
  const before = await storedOf(home);
  const refused = await home.call(["--session", ID, "-p", "-", ...REVIEWER], { input: "a\0b" });
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(await storedOf(home)).toEqual(before);
});

it("[CLI-38] [CLI-116] --plan that is refused while an exchange is running changes nothing", async () => {
  const { home, release } = await heldThenFast();
  const running = await startAnswer(home);
  expect(await home.call(["--session", ID, "-p", "hello", "--plan"])).toMatchObject({ code: 6 });
  release();
  expect(await running.finished).toMatchObject({ code: 0 });
  const detail = await detailOf(home, ID);
  expect(detail.plan_mode).toBe(false);
  expect(rowsOf(detail)).toHaveLength(2);
});

it.each([
  [[CONTINUE], "nothing_to_continue"],
  [["-p", "hello", "--model", "openai:test"], "model_key_missing"],
])("[CLI-114] a new id with %j is not stored", async (args, code) => {
  const home = freshHome();
  const refused = await home.call(["--session", idLike("abcdef1"), ...args]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(`[${code}]`);
  expect(await sessionsOf(home)).toEqual([]);
});

/** All that is stored of the session, its thread too. */
async function storedOf(home: Home): Promise<string> {
  const { code, stdout } = await home.call(["sessions", "export", ID]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("thread_suffix") });
  return stdout.replace(/"exported_at":"[^"]*"/, "");
}
