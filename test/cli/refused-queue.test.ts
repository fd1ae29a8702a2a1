import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import type { CreateSessionRequest } from "../../src/core/schemas/schemas.ts";
import { homeOfNodes, startNode } from "../helpers/service-node.ts";

it.each<readonly [code: string, request: CreateSessionRequest]>([
  ["folder_missing", { repo_path: "/nowhere/at-all" }],
  ["model_unknown", { model_override: "nobody:knows" }],
  ["persona_not_found", { persona_name: "nobody" }],
  ["persona_invalid", { persona_name: "broken" }],
])(
  "[QUEUE-19] [QUEUE-50] queued messages that are refused with %s before they begin stay readable, each with that code",
  async (code, request) => {
    const home = homeOfNodes();
    const broken = join(home.home, ".config/reprise/personas/broken.md");
    mkdirSync(dirname(broken), { recursive: true });
    writeFileSync(broken, "---\nname: broken\ntools: [nothing\n---\nYou answer.\n");
    const { client, ended } = await startNode(home, ["--repos", "/"]);
    const { id } = await client.createSession(request);
    const texts = ["the first, long and careful", "and the second"];
    for (const text of texts) {
      await client.queueExchange(id, text);
    }
    for (const [index, content] of texts.entries()) {
      const n = index + 1;
      expect(await ended(id, n)).toBe("failed");
      expect(await client.getExchange(id, n)).toMatchObject({
        error_code: code,
        first_seq: null,
        content,
      });
    }
    expect(await client.getSession(id)).toMatchObject({ messages: [] });
  },
);

it("[QUEUE-50] so do those that are stopped, withdrawn, or ended with their session", async () => {
  const { client } = await startNode(homeOfNodes(), ["--repos", "none"]);
  const { id } = await client.createSession({ repo_path: "/nowhere/at-all" });
  for (const text of ["stopped", "withdrawn", "ended"]) {
    await client.queueExchange(id, text);
  }
  await client.stopExchange(id, 1);
  await client.withdrawExchange(id, 2);
  await client.endSession(id);
  for (const [n, content, error_code] of [
    [1, "stopped", null],
    [2, "withdrawn", null],
    [3, "ended", "session_ended"],
  ] as const) {
    expect(await client.getExchange(id, n)).toMatchObject({
      state: "stopped",
      error_code,
      content,
    });
  }
});
