import { describe, expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { idLike, seed, sessionsOf } from "../helpers/sessions/seed.ts";

describe("sessions list", () => {
  it("[CLI-16] says on standard error that there are no sessions, and prints an empty array with --json", async () => {
    const home = freshHome();
    const [plain, json, ended] = await Promise.all([
      home.call(["sessions", "list"]),
      home.call(["sessions", "list", "--json"]),
      home.call(["sessions", "list", "--state", "ended"]),
    ]);
    expect(plain).toMatchObject({ code: 0, stdout: "" });
    expect(plain.stderr).toBe("No sessions yet; begin one with `reprise`.\n");
    expect(json).toMatchObject({ code: 0, stdout: "[]\n", stderr: "" });
    expect(ended.stderr).toContain("No ended sessions yet");
  });

  it("[CLI-56] shows the latest activity first, one line for each session", async () => {
    const home = freshHome();
    const [old, quiet, latest] = await seed(
      home,
      { messages: ["the first one"], model: "demo" },
      {},
      { messages: ["a title\nof two lines \u001b[31m", "more"], ended: true },
    );
    const { code, stdout, stderr } = await home.call(["sessions", "list"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["ID", "STATE", "ACTIVE", "MESSAGES", "MODEL", "TITLE"],
      [latest?.id.slice(0, 8), "ended", "just now", "2", "-", "a title of two lines ␛[31m"],
      [quiet?.id.slice(0, 8), "idle", "just now", "0", "-", "(no message yet)"],
      [old?.id.slice(0, 8), "idle", "just now", "1", "demo", "the first one"],
      [""],
    ]);
  });

  it("[CLI-56] shows the folders if there are several, shortened from the left, with ~ for the home", async () => {
    const home = freshHome();
    const folders = async () => {
      const { stdout } = await home.call(["sessions", "list"]);
      return stdout
        .trimEnd()
        .split("\n")
        .map((row) => row.split(/ {2,}/).slice(4));
    };
    const inHome = { model: "demo", repo_path: `${home.home}/code/shop`, messages: ["Hello"] };
    await seed(home, inHome, inHome);
    expect(await folders()).toEqual([
      ["MODEL", "TITLE"],
      ["demo", "Hello"],
      ["demo", "Hello"],
    ]);
    const end = `${"🎉".repeat(30)}/payments`;
    await seed(home, { ...inHome, repo_path: `/srv/${end}` }, { ...inHome, repo_path: null });
    expect(await folders()).toEqual([
      ["MODEL", "FOLDER", "TITLE"],
      ["demo", "-", "Hello"],
      ["demo", `…${end}`, "Hello"],
      ["demo", "~/code/shop", "Hello"],
      ["demo", "~/code/shop", "Hello"],
    ]);
  });

  it("[CLI-56] shows enough of the ids to make them unique", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("aaaaaaaa-1") }, { id: idLike("aaaaaaaa-2") });
    const { stdout } = await home.call(["sessions", "list"]);
    expect(stdout.match(/^aaaaaaaa-.(?= )/gm)?.sort()).toEqual(["aaaaaaaa-1", "aaaaaaaa-2"]);
  });

  it("[CLI-16] --state, --limit and all choose how many; a note says that there are more", async () => {
    const home = freshHome();
    const made = await seed(
      home,
      ...Array.from({ length: 205 }, (_, index) => ({
        messages: [`message ${index}`],
        ...(index < 2 ? { ended: true as const } : {}),
      })),
    );
    const ids = made.map(({ id }) => id).toReversed();
    const [standard, two, all, active, ended] = await Promise.all([
      home.call(["sessions", "list"]),
      home.call(["sessions", "list", "--limit", "2"]),
      sessionsOf(home),
      home.json<{ id: string }[]>([
        "sessions",
        "list",
        "--state",
        "active",
        "--limit",
        "300",
        "--json",
      ]),
      home.json<{ id: string }[]>(["sessions", "list", "--state", "ended", "--json"]),
    ]);
    expect(standard.stdout.trim().split("\n")).toHaveLength(51);
    expect(standard.stderr).toBe("There are more; --limit all shows every one.\n");
    expect(
      two.stdout
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.slice(0, 8)),
    ).toEqual(ids.slice(0, 2).map((id) => id.slice(0, 8)));
    expect(all.map(({ id }) => id)).toEqual(ids);
    expect(active.map(({ id }) => id)).toEqual(ids.slice(0, 203));
    expect(ended.map(({ id }) => id)).toEqual(ids.slice(203));
  });
});
