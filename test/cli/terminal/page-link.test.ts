import { expect, it } from "vitest";

import { startPageService } from "../../helpers/page-service.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { sessionsOf } from "../../helpers/sessions/seed.ts";

it("[TERM-212] a question names its session in the page of a service that runs, and none once that was killed", async () => {
  const ask = (question: string) => ({
    toolCalls: [{ name: "ask_user", arguments: JSON.stringify({ question, choices: ["a", "b"] }) }],
  });
  const server = await startModelServer({
    answer: (messages) => {
      const { role, content = "" } = messages.at(-1) ?? {};
      return role === "user" ? ask(`Which for ${content}?`) : { content: "All is said." };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test", NO_COLOR: "1" });
  const { service, url } = await startPageService(home, { folder: home.project });
  const screen = openScreen(home, "reprise");
  const isReady = /^[a-z]+ ⇧⇥ · (?=[~/…n])/m;
  const links = () => screen.everything().filter((row) => row.includes("Page: "));
  await screen.until(isReady);
  screen.type("one\r");
  await screen.until(/Which for one\?[^]*Esc later/);
  const [session] = await sessionsOf(home);
  expect(links()).toEqual([`Page: ${url}/sessions/${session?.id}`]);
  await service.stop("SIGKILL");
  screen.type("1");
  await screen.until(/Enter confirms/);
  screen.type("\r");
  await screen.until(/^All is said\.[^]*⇧⇥ · /m);
  screen.type("two\r");
  await screen.until(/Which for two\?[^]*Esc later/);
  expect(links()).toHaveLength(1);
  screen.kill("SIGTERM");
  await screen.finished;
});
