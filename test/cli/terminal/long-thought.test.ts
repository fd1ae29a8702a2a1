import { expect, it } from "vitest";

import { longestSilence } from "../../helpers/longest-silence.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { openScreen } from "../../helpers/screen.ts";
import { seed } from "../../helpers/sessions/seed.ts";
import { ID } from "../../helpers/slow-answer.ts";
import { startThinkingModel } from "../../helpers/thinking-model.ts";

it("[TERM-157] neither a screen nor --json=events is silent for 2 s while a model thinks for 12 s", async () => {
  const provider = await startThinkingModel();
  const home = freshHome(provider.env);
  await seed(home, { id: ID });
  const screen = openScreen(home, `exec reprise --session ${ID}`);
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("the question\r");
  await screen.until(/Thinking \d+ s/);
  const events = home.start(["-p", "the question", "--json=events"]);
  await events.waitFor(/"type":"reasoning"/);
  const silences = await Promise.all([
    longestSilence(() => screen.text(), /The answer\./),
    longestSilence(() => events.stdout(), /"type":"done"/),
  ]);
  expect(Math.max(...silences)).toBeLessThanOrEqual(2000);
  await screen.until(/thought for \d\d s/);
  expect((await events.finished).stdout).toContain("thought 9. ");
});
