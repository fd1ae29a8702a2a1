import { expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { testSize } from "../helpers/size.ts";
import { seed, sessionsOf } from "../helpers/sessions/seed.ts";

it("[STORE-38] command lines that are started at once on one file all succeed", async () => {
  const count = testSize("many-commands");
  const home = freshHome();
  const conversations = Math.max(1, Math.floor(count / 5));
  const commands = count - conversations;
  const sessions = await seed(
    home,
    ...Array.from({ length: commands }, (_, index) => ({ messages: [`message ${index}`] })),
  );

  const runs = await Promise.all([
    ...Array.from({ length: conversations }, (_, index) =>
      home.run(["-p", `prompt ${index}`, "--model", "demo", "--json"]),
    ),
    ...sessions.map(({ id }, index) => home.run(commandFor(index, id))),
  ]);

  expect(runs.filter(({ code }) => code !== 0)).toEqual([]);
  const stored = await sessionsOf(home);
  const ended = stored.filter(({ state }) => state === "ended");
  expect(ended).toHaveLength(sessions.filter((_, index) => index % 3 === 2).length);
  expect(stored).toHaveLength(count);
  for (const { last_seq } of stored.filter(({ model }) => model === "demo")) {
    expect(last_seq).toBe(2);
  }
});

function commandFor(index: number, id: string): string[] {
  return (
    [
      ["sessions", "list", "--json"],
      ["sessions", "show", id, "--json"],
    ][index % 3] ?? ["sessions", "end", id, "--json"]
  );
}
