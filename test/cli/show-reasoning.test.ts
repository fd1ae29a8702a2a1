import { expect, it, onTestFinished } from "vitest";

import { startProvider } from "../helpers/providers/start.ts";
import { reasoning, text } from "../helpers/providers/steps.ts";
import { freshHome } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";

const THOUGHT = "the user \u001b[31mgreets\n#9 user  2026-01-01";
const SHOWN = "  ┆ the user ␛[31mgreets\n  ┆ #9 user  2026-01-01\n";

it.each([
  ["anthropic", "anthropic:claude-sonnet-5-5"],
  ["ollama", "ollama:qwen3"],
] as const)(
  "[CLI-315] sessions show --reasoning has what the model thought (%s), and nothing has it without",
  async (name, model) => {
    const provider = await startProvider(name, () => [reasoning(THOUGHT), text("Hello.")]);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const home = freshHome({ ...provider.env, REPRISE_MODEL: model });
    const id = idLike("abcdef1");
    await seed(home, { id });
    const asked = await home.call(["--session", id, "-p", "hi"]);
    expect(asked).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(asked.stderr).not.toContain("thinking");

    const shown = await home.call(["sessions", "show", id, "--reasoning"]);
    expect(shown.stdout).toContain(`${SHOWN}Hello.\n`);
    const json = await home.call(["sessions", "show", id, "--reasoning", "--json"]);
    const { messages, reasoning: thoughts } = JSON.parse(json.stdout);
    expect(thoughts).toEqual({ [messages.at(-1).message_id]: THOUGHT });
    for (const args of [[], ["--json"], ["--all"]]) {
      const plain = await home.call(["sessions", "show", id, ...args]);
      expect(plain.stdout).not.toContain("greets");
    }
  },
);

it("[CLI-315] says of reasoning that its provider hides that it does", async () => {
  const provider = await startProvider("anthropic", () => [
    { kind: "reasoning", text: "secret", isRedacted: true },
    text("Hello."),
  ]);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const model = "anthropic:claude-sonnet-5-5";
  const home = freshHome({ ...provider.env, REPRISE_MODEL: model });
  const id = idLike("abcdef1");
  await seed(home, { id });
  await home.call(["--session", id, "-p", "hi"]);
  const shown = await home.call(["sessions", "show", id, "--reasoning"]);
  expect(shown.stdout).toContain("  ┆ (hidden by the provider)\nHello.\n");
  const json = await home.call(["sessions", "show", id, "--reasoning", "--json"]);
  expect(Object.values(JSON.parse(json.stdout).reasoning)).toEqual([null]);
});
