import { expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { testSize } from "../helpers/size.ts";

interface Summary {
  readonly ok: boolean;
  readonly sessions: number;
  readonly messages: number;
  readonly findings: number;
}

const CLIENTS = [
  ["openai", "openai:gpt-test"],
  ["anthropic", "anthropic:claude-test"],
] as const;

it.each(CLIENTS.slice(0, testSize("real-clients")))(
  "[PROOF-1] agrees with what real clients leave (%s): streamed tool calls, sub-agents, a stop, a kill",
  async (provider, model) => {
    const server = await startModelServer({
      latencyMs: 5,
      chunkSize: 4,
      answer: (messages, index) => {
        const last = messages.at(-1);
        if (last?.role === "user" && last.content.startsWith("use tools")) {
          const path = '{"path":".","7":"\\u0000 \\ud83d\\ude00 “quoted”"}';
          return {
            content: "Let me see.",
            toolCalls: [
              { id: `call-a${index}`, name: "list_files", arguments: '{"path":"."}' },
              { id: `call-b${index}`, name: "read_file", arguments: path },
              {
                id: `call-c${index}`,
                name: "delegate",
                arguments: '{"persona":"reviewer","task":"look"}',
              },
            ],
          };
        }
        return { content: `answer ${index} `.repeat(last?.content === "long" ? 200 : 3) };
      },
    });
    const home = freshHome(server.env(provider));
    const exchange = (text: string, session: string[] = []): Promise<{ session_id: string }> =>
      home.json(["--model", model, ...session, "-p", text, "--json"]);

    const { session_id } = await exchange("use tools, please");
    const session = ["--session", session_id];
    await exchange("and again", session);
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const running = home.start([...session, "-p", "long"], { input: "" });
      await running.waitFor(/answer/);
      await running.stop(signal);
      const looked = await home.json<Summary>(["sessions", "verify", "--json"]);
      expect(looked).toMatchObject({ ok: true, sessions: 2, findings: 0 });
    }
    await exchange("use tools once more", session);
    const looked = await home.json<Summary>(["sessions", "verify", "--json"]);
    expect(looked).toMatchObject({ ok: true, sessions: 3, findings: 0 });
    expect(looked.messages).toBeGreaterThan(20);
  },
);
