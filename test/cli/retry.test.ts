import { expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { startScriptedProvider } from "../helpers/scripted-provider.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";
import { detailOf, idLike, rowsOf } from "../helpers/sessions/seed.ts";

it("[CLI-60] /retry is offered after a failure and does not store the message again", async () => {
  await using provider = await startScriptedProvider("openai", (index) =>
    index === 0 ? [{ kind: "status", status: 401 }] : [{ kind: "text", text: "the answer" }],
  );
  const home = freshHome(provider.env);
  const id = idLike("abcdef1");
  const terminal = openTerminal(home, `reprise --session ${id}`);
  await terminal.shows(/> /);
  terminal.type("the question\r");
  await terminal.shows(/model_unauthorized[\s\S]*The message is stored; \/retry/);
  terminal.type("/retry\r");
  await terminal.shows(/the answer/);
  terminal.type(CTRL_D);
  await terminal.finished;
  expect(rowsOf(await detailOf(home, id))).toEqual([
    [1, "user", "the question"],
    [2, "assistant", "the answer"],
  ]);
});

it.each([
  ["that is refused", { kind: "status", status: 400 }, {}],
  ["that is too long", { kind: "status", status: 413 }, {}],
  [
    "that meets the call limit",
    { kind: "call", name: "read_file", args: '{"path":"a"}', size: 9 },
    { REPRISE_MODEL_CALLS: "1" },
  ],
] as const)(
  "[ANSWER-23] -p names the option to continue with for a message %s, and no command",
  async (_, step, env) => {
    await using provider = await startScriptedProvider("openai", () => [step]);
    const home = freshHome({ ...provider.env, ...env });
    const { code, stderr } = await home.call(["-p", "hello"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("--continue-exchange");
    expect(stderr).not.toMatch(/(^|[\s(])\/[a-z]+\b/);
  },
);

it("[RETRY-8] a process that is killed while it waits for a provider leaves what can be continued", async () => {
  await using provider = await startScriptedProvider("openai", (index) =>
    index === 0
      ? [{ kind: "status", status: 503, headers: { "retry-after": "60" } }]
      : [{ kind: "text", text: "the answer" }],
  );
  const home = freshHome(provider.env);
  const id = idLike("abcdef1");
  const running = home.start(["--session", id, "-p", "the question"]);
  await new Promise<void>((resolve) =>
    running.child.stderr?.on("data", () => {
      if (
        /^note: the OpenAI service reported an error or is overloaded \(status 503.*\); asking again in 60 s\.$/m.test(
          running.stderr(),
        )
      ) {
        resolve();
      }
    }),
  );
  await running.stop();
  const { stdout } = await home.call(["--session", id, "--continue-exchange"]);
  expect(stdout).toContain("the answer");
  expect(rowsOf(await detailOf(home, id))).toEqual([
    [1, "user", "the question"],
    [2, "assistant", "the answer"],
  ]);
});

it("[RETRY-12] -p into a pipe fails if an answer broke off after its first text; JSON begins again", async () => {
  await using provider = await startScriptedProvider("openai", (index) =>
    index === 0 || index === 1
      ? [{ kind: "text", text: "half an ans" }, { kind: "drop" }]
      : [{ kind: "text", text: "the whole answer" }],
  );
  const home = freshHome(provider.env);
  const plain = await home.call(["-p", "question"]);
  expect(plain.code).not.toBe(0);
  expect(plain.stdout).toBe("half an ans");
  expect(plain.stderr).toContain("model_unreachable");
  expect(provider.requests).toHaveLength(1);
  const json = await home.call(["-p", "question", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ answer: "the whole answer" });
  expect(provider.requests).toHaveLength(3);
});

it("[CLI-96] the reason why a tool failed is on the screen", async () => {
  await using provider = await startScriptedProvider("openai", (index) =>
    index === 0
      ? [{ kind: "call", name: "read_file", args: '{"path":"none.md"}', size: 4 }]
      : [{ kind: "text", text: "the answer" }],
  );
  const home = freshHome(provider.env);
  const terminal = openTerminal(home, "reprise --repo .");
  await terminal.shows(/> /);
  terminal.type("read it\r");
  await terminal.shows(
    /· read_file none\.md\s+· read_file failed: there is no such file;[^]*the answer/,
  );
  terminal.type(CTRL_D);
  await terminal.finished;
});
