import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { fixtureServer, notedIn, runningOf } from "../../helpers/mcp.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { CTRL_D } from "../../helpers/terminal.ts";

it("[TERM-184] a question of an MCP server is answered in the terminal that runs its call, which is shown with its result", async () => {
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user"
        ? { toolCalls: [{ name: "desk__act", arguments: "{}" }] }
        : { content: "All is said." },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test", NO_COLOR: "1" });
  const noted = join(home.home, "noted");
  const config = join(home.home, ".config/reprise/config.jsonc");
  mkdirSync(join(config, ".."), { recursive: true });
  const mcp = { desk: fixtureServer("asking.ts", "old", "choice", noted) };
  writeFileSync(config, JSON.stringify({ mcp }), { mode: 0o600 });
  const screen = openScreen(home, "reprise --permission all");
  await screen.until(/^mode all · (?=[~/…n])/m);
  screen.type("go\r");
  await screen.until(/The MCP server desk asks, in a call of desk__act/);
  await screen.until(/Esc later/);
  screen.type("2");
  await screen.until(/Enter confirms/);
  screen.type("\r");
  await screen.until(/^All is said\.[^]*^mode all · (?=[~/…n])/m);
  expect(screen.everything().join("\n")).toMatch(/^✓ desk__act/m);
  expect(notedIn(noted)).toContain('answer {"action":"accept","content":{"size":"large"}}');
  screen.type(CTRL_D);
  expect(await screen.finished).toBe(0);
  await expect.poll(() => runningOf(noted)).toEqual([]);
});
