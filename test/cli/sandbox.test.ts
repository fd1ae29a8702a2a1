import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";

const { bubblewrap, reason } = await createSandboxProbe()();

/** An agent that runs each message as a line, with the access that its first word names, and repeats the result. */
async function running() {
  const server = await startModelServer({
    answer: (messages) => {
      const { role, content = "" } = messages.at(-1) ?? { role: "" };
      const [, access = "", line = ""] = /^(\w+): (.*)$/s.exec(content) ?? [];
      const commit = { message: line, paths: ["."] };
      if (access === "commit" && role === "user") {
        return { toolCalls: [{ name: "git_commit", arguments: JSON.stringify(commit) }] };
      }
      const call = { name: "run_command", arguments: JSON.stringify({ line, access }) };
      return role === "user" ? { toolCalls: [call] } : { content: `it is: ${content}` };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  return { ...home, file: (path: string) => join(home.project, path) };
}

describe.skipIf(reason !== null)("commands of the program in the sandbox", () => {
  it("[SANDBOX-22] [SANDBOX-23] mode auto runs them without a question, and moves out what directs programs", async () => {
    const home = await running();
    mkdirSync(join(home.home, ".ssh"));
    writeFileSync(join(home.home, ".ssh/id"), "sk-CANARY");
    const auto = ["--permission", "auto"];
    const line = `sandbox: echo made > made; echo evil > .envrc; cat ${home.database}; ls ${home.home}/.ssh; exit 3`;
    const { code, stdout } = await home.call(["-p", line, ...auto]);
    expect(code).toBe(0);
    expect(stdout).toContain("it is: exit code 3 after");
    expect(stdout).toContain(".envrc (the shell runs it on entering the folder)");
    expect(stdout).toContain(
      "It ran in a sandbox, with no network and only this folder to write to.",
    );
    expect(stdout).not.toMatch(/SQLite format|\bid\b/);
    expect(readFileSync(home.file("made"), "utf8")).toBe("made\n");
    expect(existsSync(home.file(".envrc"))).toBe(false);
    const explained = await home.call([
      "permission",
      "explain",
      "run_command(make)",
      "--session",
      (await sessionsOf(home))[0]?.id ?? "",
    ]);
    expect(explained.stdout).toMatch(/^allow: .*mode auto/);
  });

  it("[SANDBOX-36] a person sees what was moved, in plain lines and as events", async () => {
    const home = await running();
    const evil =
      'sandbox: echo evil > .envrc; d=$(printf \'a\\033]0;b\\nSandbox: c\'); mkdir "$d"; touch "$d/.envrc"';
    const said = /Moved out of the folder.*\.envrc \(the shell runs it/;
    const auto = ["--permission", "auto"];
    const { stderr } = await home.call(["-p", evil, ...auto]);
    expect(stderr).toMatch(new RegExp(`^note: ${said.source}`, "m"));
    expect(stderr).not.toContain("\u001b");
    expect(stderr).not.toMatch(/^Sandbox: c/m);
    const { stdout } = await home.call(["-p", evil, ...auto, "--json=events"]);
    const results = stdout
      .split("\n")
      .filter((line) => line.includes('"tool_result"'))
      .map((line): { content: string } => JSON.parse(line));
    expect(results[0]?.content).toMatch(new RegExp(`^Sandbox: ${said.source}`, "m"));
  });

  it("[CONFIG-17] the config sets its limits", async () => {
    const home = await running();
    const limit = "sandbox.limits.file_mib";
    expect(await home.call(["config", "set", limit, "1"])).toMatchObject({ code: 0 });
    expect((await home.call(["config", "get", limit])).stdout).toMatch(/file_mib +1 +config/);
    const line = "sandbox: head -c 2097152 /dev/zero > big; wc -c < big";
    const { stdout } = await home.call(["-p", line, "--permission", "auto"]);
    expect(stdout).toMatch(/^1048576$/m);
  });

  it("[SANDBOX-55] [CONFIG-18] a failure names what of the home was hidden, and the config makes it visible", async () => {
    const home = await running();
    mkdirSync(join(home.home, ".tool"));
    writeFileSync(join(home.home, ".tool/settings"), "from the tool");
    const line = `sandbox: cat ${home.home}/.tool/settings`;
    const auto = ["--permission", "auto"];
    const { stdout } = await home.call(["-p", line, ...auto]);
    expect(stdout).toContain("so the command did not see ~/.tool/settings, if that exists");
    expect(stdout).toContain("sandbox.visible");
    const set = ["config", "set", "sandbox.visible"];
    expect(await home.call([...set, '["~/.tool"]'])).toMatchObject({ code: 0 });
    expect((await home.call(["config", "get", "sandbox.visible"])).stdout).toContain("~/.tool");
    expect((await home.call(["-p", line, ...auto])).stdout).toContain("from the tool");
    const refused = await home.call([...set, '["~/.."]']);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("a path below your home folder");
  });

  it("[SANDBOX-22] [SANDBOX-23] to leave it is a question, which says what that means, and no rule lifts it", async () => {
    const home = await running();
    const service = createServer((socket) => socket.end("from a service")).listen(0, "127.0.0.1");
    await once(service, "listening");
    const { port } = service.address() as AddressInfo;
    const reach = `'${process.execPath}' -e 'require("net").connect(${port}, "127.0.0.1").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;
    const how = ["--permission", "auto", "--allow", "run_command"];
    expect((await home.call(["-p", `sandbox: ${reach}`, ...how])).stdout).not.toContain(
      "service\n",
    );
    const asked = await home.call(["-p", `network: ${reach}`, ...how]);
    expect(asked).toMatchObject({ code: 7, stdout: "" });
    expect(asked.stderr).toContain("reach the services of this machine");
    expect(asked.stderr).not.toContain("always");
    const id = (await sessionsOf(home))[0]?.id ?? "";
    await home.call(["sessions", "answer", id, "allow once"]);
    const done = await home.call(["--session", id, "--continue-exchange"]);
    expect(done.stdout).toContain("from a service");
    service.close();

    const outside = await home.call(["-p", `outside: echo x > ${home.home}/left`, ...how]);
    expect(outside.code).toBe(7);
    expect(outside.stderr).toContain("It leaves the sandbox");
    expect(existsSync(join(home.home, "left"))).toBe(false);
  });
});

it("[SANDBOX-20] [SANDBOX-24] the agent commits after a question that shows what is committed", async () => {
  const home = await running();
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: home.project, encoding: "utf8" });
  git("init", "-q");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.com");
  writeFileSync(home.file("a.txt"), "a\n");
  const asked = await home.call(["-p", "commit: Add a", "--permission", "auto"]);
  expect(asked.code).toBe(7);
  expect(asked.stderr).toMatch(/A commit of these changes, without hooks:[^]*A a\.txt[^]*Add a/);
  const id = (await sessionsOf(home))[0]?.id ?? "";
  await home.call(["sessions", "answer", id, "allow once"]);
  const done = await home.call(["--session", id, "--continue-exchange"]);
  expect(done.stdout).toMatch(/it is: Committed [0-9a-f]{12}: 1 changed files\./);
  expect(git("log", "--format=%an %s", "--name-only")).toBe("Ada Add a\n\na.txt\n");
});

describe("the terminal", () => {
  const talk = async (command: string) => {
    const home = freshHome({ REPRISE_MODEL: "demo" });
    const terminal = openTerminal(home, command);
    const [greeting] = await terminal.shows(/^[^]*\n> $/);
    expect(greeting).not.toContain("no sandbox");
    for (const message of ["hello", "again"]) {
      terminal.type(`${message}\r`);
      await terminal.shows(new RegExp(`${message}[^]*\n[^>]*> $`));
    }
    terminal.type(CTRL_D);
    return (await terminal.finished).screen;
  };

  it.skipIf(reason !== null)("[SANDBOX-31] says nothing of a sandbox that works", async () => {
    expect(await talk("reprise")).not.toContain("no sandbox");
  });

  it("[SANDBOX-31] says once, in mode all too, that there is no sandbox, and why", async () => {
    // by its path: it need not be on PATH
    const without =
      bubblewrap === null
        ? ""
        : `${bubblewrap.file} --dev-bind / / --ro-bind /dev/null ${bubblewrap.file} `;
    const text = await talk(`${without}reprise --permission all`);
    expect(text.match(/note: no sandbox \(/g)).toHaveLength(1);
    if (bubblewrap !== null) {
      expect(text).toContain("bwrap is not installed (package bubblewrap)");
    }
  });
});
