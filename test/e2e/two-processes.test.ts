import { describe, expect, it } from "vitest";

import { type ModelServer, startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";

interface ExchangeDocument {
  session_id: string;
  thread_id: string;
  model: string;
  answer: string;
  total_input_tokens: number;
  total_output_tokens: number;
  messages: { seq: number; role: string; content: string; archived: boolean }[];
}

interface DetailDocument {
  messages: { seq: number; role: string; content: string; archived: boolean }[];
  total_input_tokens: number;
  total_output_tokens: number;
  title: string;
}

/** Answers "answer N" and reports usage that no estimate would give. */
function modelServer(provider: "openai" | "anthropic"): Promise<ModelServer> {
  return startModelServer({
    answer: (_messages, index) => ({
      content: `answer ${index + 1}`,
      usage:
        provider === "openai"
          ? { prompt_tokens: 1000 * (index + 1), completion_tokens: 70 + index }
          : { input_tokens: 1000 * (index + 1), output_tokens: 70 + index },
    }),
  });
}

const MODELS = { openai: "openai:gpt-test", anthropic: "anthropic:claude-test" } as const;

async function twoExchanges(home: Home, model: string) {
  const first = await home.json<ExchangeDocument>(["--model", model, "-p", "my first", "--json"]);
  const prefix = first.session_id.slice(0, 6);
  const second = await home.json<ExchangeDocument>([
    "--session",
    prefix,
    "-p",
    "my second",
    "--json",
  ]);
  return { first, second, prefix };
}

describe.each(["openai", "anthropic"] as const)(
  "two processes and %s's wire format",
  (provider) => {
    it("[CLI-10] [CLI-11] the second exchange sends the first; rows, thread and totals are right", async () => {
      const server = await modelServer(provider);
      const home = freshHome(server.env(provider));
      const { first, second } = await twoExchanges(home, MODELS[provider]);

      expect(second.session_id).toBe(first.session_id);
      expect(second.answer).toBe("answer 2");
      expect(second.thread_id).toBe(`${first.session_id}:0`);
      const requests = server.requests();
      expect(requests).toHaveLength(2);
      expect(requests[1]?.map(({ role, content }) => [role, content])).toEqual([
        ["user", "my first"],
        ["assistant", "answer 1"],
        ["user", "my second"],
      ]);

      const detail = await home.json<DetailDocument>([
        "sessions",
        "show",
        first.session_id,
        "--json",
      ]);
      expect(detail.messages.map(({ seq, role, content }) => [seq, role, content])).toEqual([
        [1, "user", "my first"],
        [2, "assistant", "answer 1"],
        [3, "user", "my second"],
        [4, "assistant", "answer 2"],
      ]);
      expect(detail.title).toBe("my first");
      expect(detail.total_input_tokens).toBe(3000);
      // Anthropic's streams report the output count twice; the mock counts both
      expect(detail.total_output_tokens).toBe(second.total_output_tokens);
      if (provider === "openai") {
        expect(detail.total_output_tokens).toBe(70 + 71);
      }
    });

    it("[CLI-12] /clear archives the rows and begins thread 1, whose request holds none of them", async () => {
      const server = await modelServer(provider);
      const home = freshHome(server.env(provider));
      const { first, prefix } = await twoExchanges(home, MODELS[provider]);
      const third = await home.json<ExchangeDocument>(["--session", prefix, "--json"], {
        input: "/clear\nmy third\n",
      });

      expect(third.thread_id).toBe(`${first.session_id}:1`);
      expect(server.requests()[2]?.map(({ content }) => content)).toEqual(["my third"]);
      const visible = await home.json<DetailDocument>(["sessions", "show", prefix, "--json"]);
      expect(visible.messages.map(({ content }) => content)).toEqual(["my third", "answer 3"]);
      const all = await home.json<DetailDocument>(["sessions", "show", prefix, "--all", "--json"]);
      expect(all.messages.map(({ archived }) => archived)).toEqual([
        true,
        true,
        true,
        true,
        false,
        false,
      ]);
    });
  },
);
