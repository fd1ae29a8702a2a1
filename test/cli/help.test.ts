import { expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";

it("[TERM-80] help prints what --help prints, for commands of every depth", async () => {
  const home = freshHome();
  for (const words of [[], ["sessions"], ["sessions", "list"], ["trust", "add"]]) {
    const asked = await home.call(["help", ...words]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked.stdout).toContain(`Usage: ${["reprise", ...words].join(" ")} `);
    expect(asked).toEqual(await home.call([...words, "--help"]));
  }
});

it.each([
  [["sesions"], "perhaps `reprise sessions` is meant; see `reprise --help`"],
  [["lst"], "perhaps `reprise sessions list` is meant; see `reprise --help`"],
  [["graph"], "perhaps `reprise plan graph` is meant; see `reprise --help`"],
  [["fix the bug"], "There is no such command; see `reprise --help`, and send a message with -p."],
  [["sessions", "lst"], "There is no such command; perhaps list is meant."],
  [["help", "sessions", "lst"], "There is no such command; perhaps list is meant."],
  [["help", "nothing-alike"], "There is no such command; `reprise help` shows all."],
])(
  "[TERM-81] a wrong command is refused with the one that it is most like: %j",
  async (args, says) => {
    const { code, stdout, stderr } = await freshHome().call(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
  },
);

it("[TERM-81] a wrong slash command, too", async () => {
  const { code, stderr } = await freshHome().call([], { input: "/modle\n" });
  expect(code).toBe(2);
  expect(stderr).toContain("There is no such command; perhaps /model is meant; /help shows them");
});
