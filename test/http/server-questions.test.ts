import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { fixtureServer, notedIn, runningOf } from "../helpers/mcp.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { SERVICE_TOKEN } from "../helpers/service-processes.ts";

it.each(["old", "new"])(
  "[HTTP-385] a question of an MCP server is answered over HTTP and taken by its call (%s protocol)",
  async (era) => {
    const server = await startModelServer({
      answer: (messages) =>
        messages.at(-1)?.role === "user"
          ? { toolCalls: [{ name: "desk__act", arguments: "{}" }] }
          : { content: `it is: ${messages.at(-1)?.content}` },
    });
    const home = freshHome({
      ...server.env("openai"),
      REPRISE_MODEL: "openai:test",
      REPRISE_TOKEN: SERVICE_TOKEN,
    });
    const noted = join(home.home, "noted");
    const config = join(home.home, ".config/reprise/config.jsonc");
    mkdirSync(join(config, ".."), { recursive: true });
    const mcp = { desk: fixtureServer("asking.ts", era, "choice", noted) };
    writeFileSync(config, JSON.stringify({ mcp }), { mode: 0o600 });
    const service = home.start(["serve", "--port", "0", "--repos", home.project]);
    const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
    const client = createClient({ baseUrl: url, token: SERVICE_TOKEN });
    const { id } = await client.createSession({ repo_path: home.project });
    await client.patchSession(id, { permission: "all" });
    const { n } = await client.queueExchange(id, "go");
    await expect.poll(() => client.listQuestions(id)).toHaveLength(1);
    const [question] = await client.listQuestions(id);
    expect(question?.text).toContain("The MCP server desk asks, in a call of desk__act");
    await expect.poll(async () => (await client.getExchange(id, n)).state).toBe("waiting");
    await client.answerQuestion(id, question?.id ?? "", { choice: "1" });
    await expect.poll(async () => (await client.getExchange(id, n)).state).toBe("done");
    const { messages } = await client.getSession(id);
    expect(messages.at(-1)?.content).toContain(`"content":{"size":"small"}`);
    expect(messages.find(({ role }) => role === "tool")).toMatchObject({ status: "ok" });
    const made = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(made).toMatchObject([{ name: "desk__act", effect: "changes" }]);
    expect(notedIn(noted).filter((line) => line === "call")).toHaveLength(1);
    await service.stop("SIGTERM");
    await expect.poll(() => runningOf(noted)).toEqual([]);
  },
);
