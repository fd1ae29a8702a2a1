import { describe, expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { type Detail, idLike, rowsOf, seed, sessionsOf } from "../helpers/sessions/seed.ts";

describe("sessions show", () => {
  it("[CLI-17] [CLI-20] shows a session by a prefix of 6, with its archived messages if --all is given", async () => {
    const home = freshHome();
    await seed(home, {
      id: idLike("abcdef1"),
      messages: ["hidden", "seen \u001b[2Jby all\r\n\tand \u202ewhole"],
      archived: 1,
      model: "demo:echo",
    });
    const [some, all] = await Promise.all([
      home.call(["sessions", "show", "abcdef"]),
      home.call(["sessions", "show", "ABCDEF1", "--all"]),
    ]);
    expect(some).toMatchObject({ code: 0, stderr: "" });
    expect(some.stdout).toContain(`session   ${idLike("abcdef1")} (active, idle)`);
    expect(some.stdout).toContain(`thread    ${idLike("abcdef1")}:1`);
    expect(some.stdout).toContain("model     demo:echo");
    expect(some.stdout).toMatch(
      /#2 user {2}\S+Z {2}\(pending\)\nseen ␛\[2Jby all\n\tand <U\+202E>whole\n/,
    );
    expect(some.stdout).not.toContain("#1 user");
    expect(all.stdout).toMatch(/#1 user {2}\S+Z {2}\(archived\)\nhidden\n/);
  });

  it("[QUEUE-30] [TERM-62] shows the messages that are queued, with nothing in them that a terminal obeys", async () => {
    const home = freshHome();
    const id = idLike("abcdef1");
    await seed(home, { id, messages: ["stored"] });
    const text = "first \u001b[2J\r\nline\u202e";
    await home.call(["send", id, text]);
    await home.call(["send", id, "second"]);
    const { code, stdout } = await home.call(["sessions", "show", id]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}exchange {2}2 queued$/m);
    expect(stdout).toMatch(
      /\nexchange 1 user {2}\S+Z {2}\(queued\)\nfirst ␛\[2J\nline<U\+202E>\n\nexchange 2 user/,
    );
    const listed = await home.call(["sessions", "list"], { terminal: true });
    expect(listed.stdout).toMatch(/^\w{8} .* queued /m);
    const stopped = await home.call(["stop", id]);
    expect(stopped.stdout).toBe(`Stopped: exchange 1 of ${id}\n`);
    await home.call(["stop", id]);
    expect((await home.call(["sessions", "show", id])).stdout).not.toContain("(queued)");
    const nothing = await home.call(["stop", id]);
    expect(nothing).toMatchObject({ code: 1, stdout: "" });
    expect(nothing.stderr).toMatch(/^reprise: No exchange is queued .*\[exchange_ended\]\n$/);
  });

  it("[CLI-18] --at shows a message with those around it", async () => {
    const home = freshHome();
    const id = idLike("abcdef1");
    const messages = Array.from({ length: 300 }, (_, index) => `message ${index + 1}`);
    await seed(home, { id, messages, archived: 2 });
    await home.call(["send", id, "one that waits"]);
    const at = (n: number, ...more: string[]) =>
      home.call(["sessions", "show", id, "--at", String(n), ...more]);
    const middle = await at(50);
    expect(middle.stdout.match(/^#\d+/gm)).toEqual(
      Array.from({ length: 24 }, (_, index) => `#${47 + index}`),
    );
    expect(middle.stdout).not.toContain("one that waits");
    expect(middle.stderr).toBe("Earlier messages: --before-seq 47\nLater messages: --at 71\n");
    const last = await home.json<Detail>(["sessions", "show", id, "--at", "300", "--json"]);
    expect(last.messages.map(({ seq }) => seq)).toEqual([297, 298, 299, 300]);
    expect(await at(2)).toMatchObject({ code: 2, stderr: expect.stringContaining("--all") });
    expect((await at(2, "--all")).stdout).toContain("#1 user");
    expect(await at(301)).toMatchObject({ code: 2 });
  });

  it("[CLI-18] shows the last 200 messages at most; --before-seq reads further back", async () => {
    const home = freshHome();
    const messages = Array.from({ length: 203 }, (_, index) => `message ${index + 1}`);
    await seed(home, { id: idLike("abcdef1"), messages });
    const [last, before, text] = await Promise.all([
      home.json<Detail>(["sessions", "show", "abcdef1", "--json"]),
      home.json<Detail>(["sessions", "show", "abcdef1", "--before-seq", "4", "--json"]),
      home.call(["sessions", "show", "abcdef1"]),
    ]);
    expect(last.has_earlier).toBe(true);
    expect(last.messages.map(({ content }) => content)).toEqual(messages.slice(3));
    expect(before.has_earlier).toBe(false);
    expect(rowsOf(before)).toEqual([
      [1, "user", "message 1"],
      [2, "user", "message 2"],
      [3, "user", "message 3"],
    ]);
    expect(text.stderr).toBe("Earlier messages: --before-seq 4\n");
    expect(text.stdout).toContain("#4 user");
    expect(text.stdout).not.toContain("#3 user");
  });

  it("[RECORD-9] shows the last exchanges, each with its messages and tokens", async () => {
    const home = freshHome();
    expect((await home.call(["-p", "hello"])).code).toBe(0);
    const [{ id } = { id: "" }] = await sessionsOf(home);
    const { stdout } = await home.call(["sessions", "show", id]);
    expect(stdout).toMatch(/^ {2}exchange {2}1 done, from #1 to #2, \d+ in, \d+ out$/m);
  });

  it("[CLI-19] list, show and end print with --json what the HTTP API answers", async () => {
    const home = freshHome();
    const [{ id } = { id: "" }] = await seed(home, {
      messages: ["one", "two"],
      archived: 1,
      persona_name: "planner",
    });
    const service = home.start(["serve", "--port", "0"]);
    const [, url] = await service.waitFor(/listening on (\S+)/);
    const overHttp = async (method: string, path: string): Promise<unknown> =>
      (await fetch(`${url}/api/sessions${path}`, { method })).json();

    expect(await home.json(["sessions", "list", "--json"])).toEqual(await overHttp("GET", ""));
    expect(await home.json(["sessions", "show", id, "--json"])).toEqual(
      await overHttp("GET", `/${id}`),
    );
    expect(await home.json(["sessions", "show", id, "--all", "--json"])).toEqual(
      await overHttp("GET", `/${id}?all=true`),
    );
    const ended = await home.json(["sessions", "end", id, "--json"]);
    expect(ended).toMatchObject({ id, state: "ended", seq: 2, title: "one" });
    expect(ended).toEqual(await overHttp("POST", `/${id}/end`));
  });
});

describe("an id on the command line", () => {
  const commands = [["sessions", "end"], ["--session"]];

  it("[CLI-20] that is the prefix of several sessions is refused and lists them, the latest first", async () => {
    const home = freshHome();
    await seed(
      home,
      { id: idLike("abcdef1"), messages: ["the older"] },
      { id: idLike("abcdef2"), messages: ["the\nlatest"] },
      { id: idLike("abcdee") },
    );
    for (const command of commands) {
      const refused = await home.call([...command, "abcdef"]);
      expect(refused).toMatchObject({ code: 4, stdout: "" });
      expect(refused.stderr.trimEnd().split("\n")).toEqual([
        "reprise: 2 sessions begin with this id; give more characters of it. [ambiguous_id]",
        expect.stringMatching(new RegExp(`^  ${idLike("abcdef2")}  \\S+Z  the latest$`)),
        expect.stringMatching(new RegExp(`^  ${idLike("abcdef1")}  \\S+Z  the older$`)),
      ]);
    }
    const json = await home.call(["--session", "abcdef", "--json"]);
    expect(json).toMatchObject({ code: 4, stdout: "" });
    expect(JSON.parse(json.stderr)).toMatchObject({
      code: "ambiguous_id",
      candidates: [
        { id: idLike("abcdef2"), title: "the\nlatest" },
        { id: idLike("abcdef1"), title: "the older" },
      ],
    });
    expect((await sessionsOf(home)).map(({ state, last_seq }) => [state, last_seq])).toEqual([
      ["active", 0],
      ["active", 1],
      ["active", 1],
    ]);
  });

  it("[CLI-20] [CLI-112] that matches no session is refused", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1") });
    for (const command of commands) {
      const unknown = await home.call([...command, "abcdea"]);
      expect(unknown).toMatchObject({ code: 3, stdout: "" });
      expect(unknown.stderr).toMatch(/^reprise: No session has this id.*\[session_not_found\]\n$/);
    }
    const short = await home.call(["sessions", "show", "abcde"]);
    expect(short).toMatchObject({ code: 3, stdout: "" });
    expect(short.stderr).toMatch(/at least its first 6 characters.*\[session_not_found\]\n$/);
    expect(await sessionsOf(home)).toMatchObject([{ state: "active" }]);
  });
});
