import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { text } from "../../helpers/providers/steps.ts";
import { freshHome } from "../../helpers/reprise.ts";

const said = (words: string) => [{ type: "text", text: words }];
const called = (id: string, name: string, args: unknown) => ({
  type: "toolCall",
  id,
  name,
  arguments: args,
});
const result = (toolCallId: string, words: string) => ({
  role: "toolResult",
  toolCallId,
  content: said(words),
});

const CLASS = { lc: 1, type: "constructor", id: ["langchain", "x"], kwargs: { a: "b" } };
const SECRET = { lc: 1, type: "secret", id: ["HOME"] };

/** A history in which everything is there that no program would write. */
const MESSAGES: readonly object[] = [
  { role: "user", content: said("Begin \u001b]0;owned\u0007 with \ud800 and \0 here") },
  {
    role: "assistant",
    content: [
      called("same", "read\n../x", { [`__proto__`]: 1, a: CLASS, b: [SECRET], c: "\0\udfff" }),
      called("same", "delegate", { persona: "assistant", task: "x" }),
      called("", "", "not JSON"),
    ],
  },
  result("same", "first"),
  result("unknown", "of no call"),
  { role: "user", content: said("Next.") },
  {
    role: "assistant",
    content: [called("same", "write", { deep: JSON.parse("[".repeat(500) + "]".repeat(500)) })],
  },
  result("same", "second"),
  { role: "assistant", content: [{ type: "thinking", thinking: "alone" }] },
  { role: "assistant", content: [...said("I write."), called("last", "write", { path: "a" })] },
];

function hostileFile(folder: string): string {
  const file = join(folder, "hostile.jsonl");
  const header = { type: "session", version: 3, id: "hostile\u202e", cwd: folder };
  const lines = MESSAGES.map((message, at) => ({
    type: "message",
    id: `m${at}`,
    parentId: at === 0 ? null : `m${at - 1}`,
    timestamp: "+275760-09-13T00:00:00.001Z",
    message,
  }));
  writeFileSync(file, [header, ...lines].map((line) => JSON.stringify(line)).join("\n"));
  return file;
}

it.each([
  ["anthropic", "anthropic:claude-sonnet-5-5"],
  ["openai", "openai:gpt-5.2"],
] as const)(
  "[FOREIGN-6] [FOREIGN-7] [FOREIGN-10] a hostile history is cleaned, its open calls are closed, and %s accepts what follows",
  async (name, model) => {
    const provider = await startProvider(name, () => [text("Good.")]);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const home = freshHome({ ...provider.env, REPRISE_MODEL: model });
    const file = hostileFile(home.project);
    const imported = await home.call(["sessions", "import", "--from", "pi", file]);
    expect([imported.code, imported.stdout.includes("\u001b")]).toEqual([0, false]);
    const [, id = ""] = /Imported: (\S+)/.exec(imported.stdout) ?? [];

    const { messages, permission } = await home.json<{
      permission: string;
      messages: readonly {
        role: string;
        content: string;
        status: string | null;
        tool_calls: readonly { id: string; name: string; args: Record<string, unknown> }[] | null;
      }[];
    }>(["sessions", "show", id, "--json"]);
    expect(permission).toBe("ask");
    expect(messages[0]?.content).toBe("Begin \u001b]0;owned\u0007 with \ufffd and  here");
    const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(calls.map((call) => call.name)).toEqual([
      "read____x",
      "delegate",
      "unnamed",
      "write",
      "write",
    ]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(5);
    expect(calls[0]?.args).toMatchObject({ a: CLASS, b: [SECRET], c: "\ufffd" });
    expect(
      messages
        .filter(({ role }) => role === "tool")
        .map(({ content, status }) => [content, status]),
    ).toEqual([
      ["first", "ok"],
      ["first", "ok"],
      [OUTCOME_UNKNOWN, "unknown"],
      ["second", "ok"],
    ]);

    const next = await home.call(["--session", id, "-p", "And now?"]);
    expect([next.code, provider.refusals()]).toEqual([0, []]);
    expect(JSON.stringify(provider.requests.at(-1)).split(OUTCOME_UNKNOWN)).toHaveLength(3);
    expect((await home.call(["sessions", "verify"])).code).toBe(0);
    const exported = join(home.home, "export.json");
    writeFileSync(exported, (await home.call(["sessions", "export", id])).stdout);
    expect((await home.call(["sessions", "import", exported, "--new-ids"])).code).toBe(0);
  },
);
