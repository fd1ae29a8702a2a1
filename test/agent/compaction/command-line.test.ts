import { describe, expect, it } from "vitest";

import { freshHome } from "../../helpers/reprise.ts";
import { startModelServer } from "../../helpers/model-server.ts";

const ID = "11111111-2222-4333-8444-555555555555";

interface Detail {
  readonly messages: readonly { role: string; content: string; is_summary: boolean }[];
}

describe("compaction on the command line", () => {
  it("[LONG-9] /compact summarises, show marks the row, and the next process sees the view", async () => {
    const server = await startModelServer({
      answer: (messages, index) => ({
        content: messages.at(-1)?.content.includes("<conversation>") ? "IN SHORT" : `a${index}`,
      }),
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
    const session = ["--session", ID];
    const early = await home.call(session, { input: "/compact\none\n/compact\n" });
    expect(early.stderr.match(/There is nothing to summarise/g)).toHaveLength(2);
    const { code, stdout, stderr } = await home.run(session, { input: "two\n/compact\n" });
    expect(code).toBe(0);
    expect(stderr).toContain(
      "Summarised: of everything before the last exchange the model gets a summary.",
    );
    expect(stdout).not.toContain("IN SHORT");
    const shown = await home.call(["sessions", "show", ID]);
    expect(shown.stdout).toMatch(/summary[^\n]*\n?[^\n]*IN SHORT/);
    await home.json([...session, "-p", "three", "--json"]);
    const sent = server.requests().at(-1)!;
    expect(sent[0]?.content).toContain("IN SHORT");
    expect(sent.slice(1).map(({ content }) => content)).toEqual(["two", "a1", "three"]);
    expect(await home.call(["sessions", "verify", ID])).toMatchObject({ code: 0 });
    const detail = await home.json<Detail>(["sessions", "show", ID, "--json"]);
    expect(detail.messages.map(({ is_summary }) => is_summary)).toEqual(
      [0, 0, 0, 0, 1, 0, 0].map(Boolean),
    );
  });

  it("[LONG-3] the demo model still knows what was summarised", async () => {
    const home = freshHome({ REPRISE_CONTEXT_TOKENS: "2000" });
    const lines = [
      "my name is Ada",
      ...Array.from({ length: 8 }, (_, index) => `${index} ${"lorem ipsum ".repeat(150)}`),
      "what is my name?",
    ];
    const { stdout, stderr } = await home.call(["--session", ID], { input: lines.join("\n") });
    expect(stderr).toContain("Older messages were summarised");
    expect(stdout).toContain("Your name is Ada.");
    expect(stdout).not.toContain("<summary>");
    const detail = await home.json<Detail>(["sessions", "show", ID, "--json"]);
    expect(
      detail.messages.filter(({ role }) => role === "user").map(({ content }) => content),
    ).toEqual(lines);
    expect(await home.call(["sessions", "verify", ID])).toMatchObject({ code: 0 });
  });

  it.each(["0", "999", "1.5", "many"])(
    "[LONG-11] REPRISE_CONTEXT_TOKENS=%s is refused before anything is stored",
    async (tokens) => {
      const home = freshHome({ REPRISE_CONTEXT_TOKENS: tokens });
      const refused = await home.call(["-p", "hello"]);
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toContain("[config_invalid]");
      expect(await home.json(["sessions", "list", "--json"])).toEqual([]);
    },
  );
});
