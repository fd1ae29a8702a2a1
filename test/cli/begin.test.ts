import { createHash } from "node:crypto";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { newId } from "../../src/core/ids.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { trustFolder } from "../helpers/trust.ts";
import { detailOf, idLike, seed, sessionsOf } from "../helpers/sessions/seed.ts";

interface Exchange {
  readonly session_id: string;
  readonly thread_id: string;
  readonly model: string;
  readonly answer: string;
}

function projectKey(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}

describe("a new session", () => {
  it("[BUDGET-5] takes limits of tokens, and a session that is there takes others", async () => {
    const home = freshHome();
    const limited = await home.call(["-p", "hello", "--token-limit", "tree=1000000"]);
    expect(limited.code).toBe(0);
    const [session] = await sessionsOf(home);
    const again = ["--session", session?.id ?? "", "--token-limit", "session=1"];
    const refused = await home.call([...again, "-p", "hello again"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^reprise: The session has used \d+ tokens .*\[budget_reached\]$/m,
    );
    // it would meet the limit again
    expect(refused.stderr).not.toContain("--continue-exchange");
    const exchange = await home.call(["-p", "hello", "--token-limit", "exchange=1"]);
    expect([exchange.code, exchange.stderr]).toEqual([
      1,
      expect.stringMatching(/--continue-exchange resumes it\. \[budget_reached\]$/m),
    ]);
    const shown = await home.call(["sessions", "show", session?.id ?? ""]);
    expect(shown.stdout).toContain(
      "limit     1 tokens, session\n  limit     1000000 tokens, tree\n",
    );
    for (const wrong of ["5", "day=5", "tree=", "tree=0", "tree=-1", "tree=1e3"]) {
      const { code, stderr } = await home.call(["-p", "hello", "--token-limit", wrong]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("--token-limit takes exchange=<n>"),
      ]);
    }
  });

  it("[COST-10] [COST-11] takes limits of the price in dollars, and refuses a model without a price", async () => {
    const home = freshHome();
    const limited = await home.call(["-p", "hello", "--price-limit", "tree=0.25"]);
    expect(limited.code).toBe(0);
    const [session] = await sessionsOf(home);
    const again = ["--session", session?.id ?? "", "--price-limit", "exchange=5"];
    expect((await home.call([...again, "-p", "again"])).code).toBe(0);
    const shown = await home.call(["sessions", "show", session?.id ?? ""]);
    expect(shown.stdout).toContain("limit     $5.00, exchange\n  limit     $0.25, tree\n");
    for (const wrong of ["5", "day=5", "tree=", "tree=0", "tree=-1", "tree=1e3", "tree=$1"]) {
      const { code, stderr } = await home.call(["-p", "hello", "--price-limit", wrong]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("--price-limit takes exchange=<USD>"),
      ]);
    }
    const server = await startModelServer({ answer: () => ({ content: "done" }) });
    const paid = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
    const limit = ["--price-limit", "session=1"];
    for (const begin of [[], ["--session", newId()]]) {
      const refused = await paid.call(["-p", "hello", ...limit, ...begin]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(
        /the price of openai:gpt-test is unknown.*\[price_unknown\]$/m,
      );
    }
    expect(server.requests()).toEqual([]);
    expect(await sessionsOf(paid)).toEqual([]);
    expect((await paid.call(["-p", "hello"])).code).toBe(0);
    const [unpriced] = await sessionsOf(paid);
    const later = await paid.call(["--session", unpriced?.id ?? "", ...limit, "-p", "more"]);
    expect(later.stderr).toMatch(/\[price_unknown\]$/m);
    expect((await paid.call(["sessions", "show", unpriced?.id ?? ""])).stdout).not.toContain(
      "limit ",
    );
    expect((await paid.call(["-p", "hello", "--session", unpriced?.id ?? ""])).code).toBe(0);
  });

  it("[COST-19] send is refused in a session with a limit of its price once its model has none", async () => {
    const server = await startModelServer({ answer: () => ({ content: "done" }) });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
    const config = join(home.home, ".config/reprise/config.jsonc");
    mkdirSync(dirname(config), { recursive: true });
    const models = { "openai:gpt-test": { price: { input: 1, output: 1 } } };
    writeFileSync(config, JSON.stringify({ models }));
    const limit = ["--price-limit", "session=1"];
    await home.call(["-p", "hello", ...limit]);
    const [session] = await sessionsOf(home);
    const send = () => home.call(["send", session?.id ?? "", "more"]);
    expect((await send()).stdout).toMatch(/^Queued: exchange 2/);
    rmSync(config);
    const { code, stderr } = await send();
    expect([code, stderr]).toEqual([2, expect.stringMatching(/\[price_unknown\]$/m)]);
  });

  it("[MODEL-14] [CLI-114] is not stored if the package of its model is not installed", async () => {
    const home = freshHome({ GOOGLE_API_KEY: "a-key-of-google" });
    const refused = await home.call(["-p", "hello", "--model", "google:gemini-3-pro"]);
    expect(refused.stderr).toMatch(/npm install @langchain\/google@.*\[package_missing\]$/m);
    expect(await sessionsOf(home)).toEqual([]);
  });

  it("[CLI-24] [CLI-30] [CLI-117] records folder, project, persona, title and model; the demo model names itself", async () => {
    const home = freshHome();
    const text = `${"é🎉".repeat(30)} and more`;
    const { code, stdout, stderr } = await home.call(["-p", text, "--plan"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\[demo\] Hello! I am the offline demo model/);
    const [session] = await sessionsOf(home);
    expect(session).toMatchObject({
      state: "active",
      activity: "idle",
      title: "é🎉".repeat(25),
      persona_name: "assistant",
      model: "demo:echo",
      repo_path: home.project,
      project_key: projectKey(home.project),
      plan_mode: true,
      depth: 0,
      parent_session_id: null,
      last_seq: 2,
    });
    expect(session?.total_input_tokens).toBeGreaterThan(0);
    expect(Date.parse(session?.last_message_at ?? "")).toBeGreaterThan(0);
    expect(stderr).toBe(`Resume with: reprise --session ${session?.id}\n`);
  });

  it("[CLI-24] [CLI-114] is not stored before its first message or command, nor if it could not answer", async () => {
    const home = freshHome();
    mkdirSync(join(home.project, ".reprise/personas"), { recursive: true });
    writeFileSync(join(home.project, ".reprise/personas/broken.md"), "---\nname: [\n---\n");
    trustFolder(home.home, home.project);
    const refusals: [string[], number, string][] = [
      [["-p", "hi", "--model", "openai:gpt-test"], 1, "model_key_missing"],
      [["-p", "hi", "--model", "nobody:x"], 1, "model_unknown"],
      [["-p", "hi", "--persona", "nobody"], 3, "persona_not_found"],
      [["-p", "hi", "--persona", "broken"], 1, "persona_invalid"],
      [["-p", "hi", "--repo", "nowhere"], 2, "invalid_usage"],
      [["--session", idLike("abcdef1"), "--persona", "nobody"], 3, "persona_not_found"],
    ];
    for (const [args, code, name] of refusals) {
      const refused = await home.call(args);
      expect(refused).toMatchObject({ code, stdout: "" });
      expect(refused.stderr).toMatch(new RegExp(`^reprise: .+ \\[${name}\\]\\n$`));
    }
    expect(await home.call([], { input: "\n  \n/exit\n" })).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(await home.call([], { input: "/end\n" })).toMatchObject({ code: 0, stdout: "" });
    expect(await sessionsOf(home)).toEqual([]);
  });

  it("[STORE-61] `..` after a link in --repo is the parent of the folder that the link points to", async () => {
    const home = freshHome();
    mkdirSync(join(home.home, "real", "sub"), { recursive: true });
    symlinkSync(join(home.home, "real", "sub"), join(home.project, "link"));
    const repo_path = join(home.home, "real");
    for (const repo of ["link/..", join(home.project, "link") + "/.."]) {
      expect((await home.call(["-p", "hi", "--repo", repo])).code).toBe(0);
    }
    const [first, second] = await sessionsOf(home);
    for (const session of [first, second]) {
      expect(session).toMatchObject({ repo_path, project_key: projectKey(repo_path) });
    }
    // a link alone keeps its name
    const link = join(home.project, "link");
    expect((await home.call(["-p", "hi", "--repo", "link"])).code).toBe(0);
    expect((await sessionsOf(home)).map((session) => session.repo_path)).toContain(link);
  });

  it("[CLI-26] begins at once with a full id that no session has, and records persona and project_key", async () => {
    const home = freshHome();
    const id = "0b5e7a52-9d3c-4f6e-8a1b-2c3d4e5f6a7b";
    const begun = await home.call(["--session", id.toUpperCase(), "--persona", "planner"]);
    expect(begun).toMatchObject({ code: 0, stdout: "" });
    expect(begun.stderr).toBe(
      `note: No session has this id, so a new one begins with it.\nnote: This session works in ${home.project}.\nResume with: reprise --session ${id}\n`,
    );
    const made = await detailOf(home, id);
    expect(made).toMatchObject({
      id,
      persona_name: "planner",
      project_key: projectKey(home.project),
      last_seq: 0,
    });
    // loaded, not made again
    expect((await home.call(["--session", id])).stderr).not.toContain("No session has");
    expect(await detailOf(home, id)).toEqual(made);
  });

  it("[CLI-27] never begins with anything but a full id: a prefix, an empty text, no value", async () => {
    const home = freshHome();
    for (const [reference, code] of [
      ["0b5e7a", 3],
      ["zzzzzzzz", 3],
      ["", 2],
      [" ", 2],
    ] as const) {
      expect(await home.call(["--session", reference], { input: "hi\n" })).toMatchObject({
        code,
        stdout: "",
      });
    }
    expect(await sessionsOf(home)).toEqual([]);
  });
});

describe("--continue", () => {
  it("[CLI-28] takes the project's latest active session, by the folder's real path", async () => {
    const home = freshHome();
    const link = join(home.home, "link");
    symlinkSync(home.project, link);
    const project = { repo_path: home.project, project_key: projectKey(home.project) };
    const [first, second] = await seed(
      home,
      { ...project, messages: ["older"] },
      { ...project, messages: ["latest"] },
      { ...project, messages: ["over"], ended: true },
      { project_key: projectKey("/elsewhere"), messages: ["another project"] },
    );
    const [here, there] = await Promise.all([
      home.call(["--continue"]),
      home.call(["--continue", "--repo", link], { cwd: home.home }),
    ]);
    expect(here.stderr).toBe(
      `note: This session works in ${home.project}.\nResume with: reprise --session ${second?.id}\n`,
    );
    expect(there.stderr).toBe(here.stderr);
    await home.call(["sessions", "end", second?.id ?? ""]);
    expect((await home.call(["--continue"])).stderr).toContain(first?.id);
  });

  it("[CLI-28] [CLI-115] [CLI-153] [CLI-154] begins nothing if there is none, and does not go with --session", async () => {
    const home = freshHome();
    const none = await home.call(["--continue", "-p", "hi"]);
    expect(none).toMatchObject({ code: 3, stdout: "" });
    expect(none.stderr).toMatch(
      /^reprise: This project has no active session to continue\. Those of other folders: `reprise resume`\. To start one, [^-]*\n$/,
    );
    expect(await home.call(["--continue", "--session", idLike("abcdef1")])).toMatchObject({
      code: 2,
      stderr: "reprise: Use either --session or --continue, not both. [invalid_usage]\n",
    });
    expect(await sessionsOf(home)).toEqual([]);
  });
});

describe("--continue in another checkout", () => {
  it("[PROJECT-3] [PROJECT-4] names the session of the same repository, and opens none", async () => {
    const home = freshHome();
    const other = join(home.home, "other");
    for (const folder of [home.project, other]) {
      mkdirSync(join(folder, ".git"), { recursive: true });
      const url = `${folder === other ? "https://example.com/" : "git@example.com:"}ada/tool.git`;
      writeFileSync(join(folder, ".git/config"), `[remote "origin"]\n\turl = ${url}\n`);
    }
    await home.call(["-p", "hello from here"]);
    const [made] = await sessionsOf(home);
    expect(made?.project_id).toMatch(/^[0-9a-f]{16}$/);
    const found = await home.call(["--continue", "-p", "hi"], { cwd: other });
    expect(found).toMatchObject({ code: 3, stdout: "" });
    expect(found.stderr).toContain(`"hello from here" in ${home.project}. To continue it there, `);
    expect(found.stderr).toContain(`reprise --session ${made?.id}`);
    expect((await sessionsOf(home)).map(({ last_seq }) => last_seq)).toEqual([2]);
  });
});

describe("options on an existing session", () => {
  it("[CLI-29] another model or persona begins a new thread; the same one does not", async () => {
    const server = await startModelServer({
      answer: (_, index) => ({ content: `answer ${index}` }),
    });
    const home = freshHome(server.env("openai"));
    const say = (...args: string[]): Promise<Exchange> => home.json([...args, "--json"]);
    const first = await say("-p", "one", "--model", "openai:a");
    const session = ["--session", first.session_id];
    const same = await say(
      ...session,
      "-p",
      "two",
      "--model",
      "openai:a",
      "--persona",
      "assistant",
    );
    const model = await say(...session, "-p", "three", "--model", "openai:b", "--repo", ".");
    const persona = await say(...session, "-p", "four", "--persona", "planner", "--plan");

    expect([first, same, model, persona].map(({ thread_id }) => thread_id.split(":")[1])).toEqual([
      "0",
      "0",
      "1",
      "2",
    ]);
    expect([first, same, model, persona].map(({ model }) => model)).toEqual([
      "openai:a",
      "openai:a",
      "openai:b",
      "openai:b",
    ]);
    expect(server.requests().map((messages) => messages.map(({ content }) => content))).toEqual([
      ["one"],
      ["one", "answer 0", "two"],
      ["three"],
      ["four"],
    ]);
    expect(await detailOf(home, first.session_id)).toMatchObject({
      model: "openai:b",
      persona_name: "planner",
      plan_mode: true,
      last_seq: 8,
    });
  });

  it("[CLI-334] --switch lets another model continue the conversation; the same one changes nothing", async () => {
    const server = await startModelServer({
      answer: (_, index) => ({ content: `answer ${index}` }),
    });
    const home = freshHome(server.env("openai"));
    const first = await home.json<Exchange>(["-p", "one", "--model", "openai:a", "--json"]);
    const session = ["--session", first.session_id];
    const same = await home.call([...session, "-p", "two", "--switch", "openai:a"]);
    const other = await home.call([...session, "-p", "three", "--switch", "openai:b"]);
    expect([same.code, other.code]).toEqual([0, 0]);
    expect(same.stderr).not.toContain("continues with");
    expect(other.stderr).toContain("note: The conversation continues with openai:b;");
    const last = await home.json<Exchange>([...session, "-p", "four", "--json"]);
    expect([last.thread_id, last.model]).toEqual([first.thread_id, "openai:b"]);
    expect(
      server
        .requests()
        .at(-1)
        ?.map(({ content }) => content),
    ).toEqual(["one", "answer 0", "two", "answer 1", "three", "answer 2", "four"]);
  });

  it("[CLI-334] --switch is refused without a session, beside --model and --persona, and for a model that cannot be opened", async () => {
    const home = freshHome();
    await seed(home, { id: idLike("abcdef1"), messages: ["one"], model: "demo:echo" });
    const before = await home.call(["sessions", "show", "abcdef"]);
    const session = ["--session", "abcdef"];
    for (const [args, code] of [
      [["--switch", "demo"], 2],
      [["--session", idLike("abcdef2"), "--switch", "demo"], 2],
      [[...session, "--switch", "demo", "--model", "demo"], 2],
      [[...session, "--switch", "demo", "--persona", "planner"], 2],
      [[...session, "--switch", "openai:x"], 1],
      [[...session, "--switch", "nobody"], 1],
    ] as const) {
      expect(await home.call([...args, "-p", "two"]), args.join(" ")).toMatchObject({
        code,
        stdout: "",
      });
    }
    expect(await home.call(["sessions", "show", "abcdef"])).toEqual(before);
  });

  it("[CLI-29] [CLI-116] options that are refused leave the session unchanged", async () => {
    const home = freshHome();
    await seed(home, {
      id: idLike("abcdef1"),
      messages: ["one"],
      model: "demo:echo",
      repo_path: "/elsewhere",
    });
    const before = await home.call(["sessions", "show", "abcdef"]);
    for (const [option, value, code] of [
      ["--model", "openai:gpt-test", 1],
      ["--model", "nobody", 1],
      ["--persona", "nobody", 3],
      ["--repo", ".", 2],
    ] as const) {
      const refused = await home.call([
        "--session",
        "abcdef",
        "--plan",
        option,
        value,
        "-p",
        "two",
      ]);
      expect(refused).toMatchObject({ code, stdout: "" });
      expect(refused.stderr.split("\n")).toHaveLength(2);
    }
    expect(await home.call(["sessions", "show", "abcdef"])).toEqual(before);
  });
});

describe("who answers", () => {
  it("[CLI-30] prefers the session's model to the persona's, REPRISE_MODEL and a key's default, in this order", async () => {
    const server = await startModelServer({ answer: () => ({ content: "answer" }) });
    const home = freshHome({
      ...server.env("openai"),
      ANTHROPIC_BASE_URL: server.url,
      REPRISE_MODEL: "openai:from-environment",
    });
    mkdirSync(join(home.home, ".config/reprise/personas"), { recursive: true });
    writeFileSync(
      join(home.home, ".config/reprise/personas/mine.md"),
      "---\nname: mine\ndescription: of this user\nmodel: anthropic:from-persona\n---\nBe brief.\n",
    );
    const say = (args: string[], env: Record<string, string | undefined> = {}): Promise<Exchange> =>
      home.json([...args, "-p", "hi", "--json"], { env });
    const option = await say(["--persona", "mine", "--model", "openai:from-option"]);
    const persona = await say(["--persona", "mine"]);
    const environment = await say([]);
    const key = await say([], { REPRISE_MODEL: undefined, ANTHROPIC_API_KEY: "test-key" });
    expect(option.model).toBe("openai:from-option");
    expect(persona.model).toBe("anthropic:from-persona");
    expect(environment.model).toBe("openai:from-environment");
    expect(key.model).toMatch(/^anthropic:claude-/);
    // what a session talked with is its own from then on
    expect(
      (await sessionsOf(home)).map(({ persona_name, model }) => [persona_name, model]),
    ).toEqual([
      ["assistant", key.model],
      ["assistant", "openai:from-environment"],
      ["mine", "anthropic:from-persona"],
      ["mine", "openai:from-option"],
    ]);
  });

  it("[CLI-55] a trusted repository's persona hides the user's, which hides the built-in one; all get AGENTS.md", async () => {
    const server = await startModelServer({ answer: () => ({ content: "answer" }) });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const persona = (folder: string, prompt: string): void => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, "assistant.md"),
        `---\nname: assistant\ndescription: a test\n---\n${prompt}\n`,
      );
    };
    trustFolder(home.home, home.project);
    const session = home.start(["--json"]);
    /** The system prompt, and the last message with its note. */
    const system = async (): Promise<string> => {
      const asked = server.requests().length;
      session.child.stdin?.write("hi\n");
      await session.waitFor(new RegExp(`(.*\\n){${asked + 1}}`));
      return `${server.systemPrompts().at(-1)}${server.requests().at(-1)?.at(-1)?.content}`;
    };
    const builtIn = await system();
    persona(join(home.home, ".config/reprise/personas"), "I am the user's.");
    const users = await system();
    persona(join(home.project, ".agents/agents"), "I am the third.");
    persona(join(home.project, ".claude/agents"), "I am the second.");
    const second = await system();
    persona(join(home.project, ".reprise/personas"), "I am the first.");
    writeFileSync(join(home.project, "AGENTS.md"), "Never use tabs.");
    const first = await system();
    expect(builtIn).toContain("You are the user's assistant");
    expect(users).toContain("I am the user's.");
    expect(second).toContain("I am the second.");
    expect(first).toContain("I am the first.");
    expect(first).toContain("Never use tabs.");
    expect(users).not.toContain("Never use tabs.");
  });
});
