import { expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { detailOf, idLike, seed } from "../helpers/sessions/seed.ts";

it("[CLI-21] sessions end ends a session once; repeated, it changes nothing, and the messages stay", async () => {
  const home = freshHome();
  await seed(home, { id: idLike("abcdef1"), messages: ["one"] });
  const first = await home.call(["sessions", "end", "abcdef"]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toBe(`Ended: ${idLike("abcdef1")}  one\n`);
  const ended = await detailOf(home, "abcdef");
  expect(ended).toMatchObject({ state: "ended", last_seq: 1 });
  expect(ended.messages).toHaveLength(1);

  expect(await home.call(["sessions", "end", "abcdef"])).toEqual(first);
  expect(await detailOf(home, "abcdef")).toEqual(ended);
});

it("[CLI-25] an ended session is refused by --session and resume, and does not change", async () => {
  const home = freshHome();
  await seed(home, { id: idLike("abcdef1"), messages: ["one"], ended: true });
  const before = await detailOf(home, "abcdef");
  const [load, prompt, resume, json] = await Promise.all([
    home.call(["--session", "abcdef"]),
    home.call(["--session", idLike("abcdef1"), "-p", "two", "--plan", "--model", "demo"]),
    home.call(["sessions", "resume", "abcdef"], { input: "two\n/clear\n" }),
    home.call(["sessions", "resume", "abcdef", "--json"]),
  ]);
  for (const refused of [load, prompt, resume]) {
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toMatch(/^reprise: The session has ended.*\[session_ended\]\n$/);
  }
  expect(json).toMatchObject({ code: 5, stdout: "" });
  expect(JSON.parse(json.stderr)).toMatchObject({ code: "session_ended" });
  expect(await detailOf(home, "abcdef")).toEqual(before);
});
