import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { freshHome, type Home } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const AGENT = fileURLToPath(new URL("../fixtures/agents/clock.js", import.meta.url));
const ASKING = fileURLToPath(new URL("../fixtures/agents/asking.js", import.meta.url));
const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));

interface Exchange {
  readonly session_id: string;
  readonly thread_id: string;
  readonly agent?: string;
  readonly answer: string;
}

async function exchange(home: Home, args: readonly string[]): Promise<Exchange> {
  const { stdout, stderr } = await home.call([...args, "--json"]);
  if (stdout === "") {
    throw new Error(stderr);
  }
  return JSON.parse(stdout) as Exchange;
}

describe("reprise --agent", () => {
  it("[CLI-160] [CLI-161] [CLI-162] talks to the agent of a module, in the packed program, with the classes of the agent's own LangChain", async () => {
    const home = freshHome();
    const { stdout } = await home.run(["--agent", AGENT, "-p", "time?", "--json"]);
    const first = JSON.parse(stdout) as Exchange;
    expect(first).toMatchObject({ agent: "watch", answer: "It is 12:00, asked 1 times." });
    const id = first.session_id;
    const again = await home.call(["--agent", AGENT, "--session", id], { input: "time?\n" });
    expect(again.stdout).toContain("It is 12:00, asked 2 times.");
    // the path is quoted if a shell would split it
    expect(again.stderr.replaceAll("'", "")).toContain(`--session ${id} --agent ${AGENT}`);
    expect((await home.call(["sessions", "show", id])).stdout).toContain("  agent     watch");
    expect((await home.call(["sessions", "verify", id])).code).toBe(0);
  });

  it("[CLI-163] keeps the session for its agent, until another begins a fresh context", async () => {
    const home = freshHome();
    const { session_id: id } = await exchange(home, ["--agent", AGENT, "-p", "time?"]);
    const refused = await home.call(["--session", id, "-p", "hi", "--json"]);
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stderr)).toMatchObject({
      code: "agent_differs",
      detail: expect.stringContaining("--agent") as string,
    });
    const own = await exchange(home, ["--session", id, "--model", "demo", "-p", "hi"]);
    expect(own.thread_id).toBe(`${id}:1`);
    expect(own).not.toHaveProperty("agent");
    const back = await exchange(home, ["--session", id, "--agent", AGENT, "-p", "time?"]);
    expect(back).toMatchObject({ thread_id: `${id}:2`, answer: "It is 12:00, asked 1 times." });
    expect((await home.call(["sessions", "verify", id])).code).toBe(0);
  });

  it("[GRAPH-9] keeps the agent's name in exports and copies", async () => {
    const home = freshHome();
    const { session_id: id } = await exchange(home, ["--agent", AGENT, "-p", "time?"]);
    const file = join(home.project, "session.json");
    writeFileSync(file, (await home.call(["sessions", "export", id])).stdout);
    const database = (name: string) => ["--database", join(home.project, name)];
    await home.call(["sessions", "import", file, ...database("imported.db")]);
    await home.call(["copy", "--from", home.database, "--to", join(home.project, "copied.db")]);
    for (const name of ["imported.db", "copied.db"]) {
      const refused = await home.call(["--session", id, "-p", "hi", "--json", ...database(name)]);
      expect(JSON.parse(refused.stderr)).toMatchObject({ code: "agent_differs" });
    }
  });

  it("[CLI-164] takes a graph of a langgraph.json, and a module by its export", async () => {
    const home = freshHome();
    mkdirSync(join(home.project, "src"));
    cpSync(AGENT, join(home.project, "src/agent.js"));
    symlinkSync(PACKAGES, join(home.project, "node_modules"));
    writeFileSync(join(home.project, "package.json"), '{"type":"module"}');
    const graphs = { clock: "./src/agent.js:agent", other: { path: "./src/agent.py:agent" } };
    writeFileSync(join(home.project, "langgraph.json"), JSON.stringify({ graphs }));
    for (const named of ["./langgraph.json:clock", "src/agent.js:agent"]) {
      const { answer } = await exchange(home, ["--agent", named, "-p", "time?"]);
      expect(answer).toContain("12:00");
    }
    for (const [named, code] of [
      ["./langgraph.json", "config_invalid"],
      ["./langgraph.json:none", "config_invalid"],
      ["./langgraph.json:other", "config_invalid"],
      ["./none.js", "file_unreadable"],
      ["src/agent.js:none", "graph_unsuitable"],
    ] as const) {
      const refused = await home.call(["--agent", named, "-p", "hi", "--json"]);
      const { detail, ...error } = JSON.parse(refused.stderr) as { code: string; detail: string };
      expect(error).toMatchObject({ code });
      expect(detail).toMatch(/\. (Name|Choose|Export|Set) /);
    }
  });

  it("[CLI-170] [CLI-171] sends no line that would skip what the agent asks, and shows how to answer", async () => {
    const home = freshHome();
    const asked = await home.call(["--agent", ASKING], { input: "hi\nask\nnever sent\n" });
    expect(asked).toMatchObject({ code: 1, stdout: "done\n" });
    expect(asked.stderr).toMatch(
      / Give it in a program with `run\(.*; a new message skips it\.\n\? \{"question":"which\?"\}\nThe rest of the input was not sent\.\nResume with: .* --agent /,
    );
  });

  it("[CLI-172] [CLI-173] says how to continue after an error of the agent's own code, in doctor too", async () => {
    const home = freshHome();
    const failed = await home.call(["--agent", ASKING, "-p", "fail"]);
    expect(failed.stderr).toMatch(
      /^reprise: The agent's own code failed\. Fix it, then continue the exchange\. The message is stored; --continue-exchange asks for its answer again\. \[agent_failed\]\nTypeError: mine\n/m,
    );
    const env = { OPENAI_API_KEY: "sk-proj-Zq8Xv2Lm9Rt4Wp7Ks1" };
    const quoted = await home.run(["--agent", ASKING, "-p", "quote"], { env });
    expect(quoted.stderr).toMatch(/^Error: 401 Incorrect API key provided: \[OPENAI_API_KEY\]\n/m);
    expect(quoted.stderr).not.toContain("Zq8Xv2Lm");
    const { stdout } = await home.call(["doctor"]);
    expect(stdout).toMatch(
      /Resume with: reprise --session <id> \(add --agent <its module> for the agent "asking"\)$/m,
    );
  });

  it("[CLI-165] runs no code of a folder that nobody named", async () => {
    const home = freshHome();
    writeFileSync(join(home.project, "agent.js"), "process.exit(9);");
    const graphs = { agent: "./agent.js:agent" };
    writeFileSync(join(home.project, "langgraph.json"), JSON.stringify({ graphs }));
    expect((await home.run(["-p", "hi"])).code).toBe(0);
  });

  it("[CLI-166] refuses what only the built-in agent has", async () => {
    const home = freshHome();
    for (const option of [["--model", "demo"], ["--persona", "planner"], ["--plan"]]) {
      const { code, stderr } = await home.call(["--agent", AGENT, ...option, "-p", "hi"]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("invalid_usage")]);
    }
    const input = "time?\n/compact\n";
    const { stderr } = await home.call(["--agent", AGENT], { input });
    expect(stderr).toContain("graph_unsuitable");
  });

  it("[CLI-167] [GRAPH-39] says what the agent's folder lacks, and shows the agent's own error", async () => {
    const home = freshHome();
    const folder = temporaryFolder();
    writeFileSync(join(folder, "bare.mjs"), "export default () => ({});");
    writeFileSync(join(folder, "broken.mjs"), 'throw new TypeError("mine");');
    const bare = await home.call(["--agent", join(folder, "bare.mjs"), "-p", "hi"]);
    expect(bare.stderr).toContain("[graph_unsuitable]");
    symlinkSync(PACKAGES, join(folder, "node_modules"));
    const broken = await home.call(["--agent", join(folder, "broken.mjs"), "-p", "hi"]);
    expect(broken.stderr).toMatch(/\[agent_failed\]\nTypeError: mine\n {4}at .*broken\.mjs/);
    writeFileSync(join(folder, "making.mjs"), 'export default () => { throw "mine"; };');
    const making = await home.call(["--agent", join(folder, "making.mjs"), "-p", "hi"]);
    expect(making.stderr).toMatch(/module \S*making\.mjs .*\[agent_failed\]\n'mine'\n/);
  });
});
