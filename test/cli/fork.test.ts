import { expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";

it("[CLI-380] forks a session, says from which message, and refuses other positions", async () => {
  const home = freshHome();
  const id = idLike("aaaaaa1");
  await seed(home, { id, messages: ["first", "second"], ended: true });
  const { stdout } = await home.call(["sessions", "fork", "aaaaaa", "--at", "1"]);
  expect(stdout).toMatch(/^Forked: [0-9a-f-]{36} {2}first\nIt begins after message 1 of aaaaaa1/);
  const fork = await home.json(["sessions", "fork", "aaaaaa", "--json"]);
  expect(fork).toMatchObject({ state: "active", forked_from: { session_id: id, seq: 2 } });
  const before = await home.call(["sessions", "fork", "aaaaaa", "--at", "0"]);
  expect(before.stdout).toContain(`It begins before the first message of ${id}.`);
  expect((await home.call(["sessions", "fork", "aaaaaa", "--at", "x"])).code).toBe(2);
  expect((await home.call(["sessions", "fork", "aaaaaa", "--at", "9"])).stderr).toContain(
    "The session has no message 9; its last one is 2.",
  );
});
