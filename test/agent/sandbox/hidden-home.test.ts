import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, describe, expect, it, onTestFinished } from "vitest";

import { missedPlaces } from "../../../src/agent/sandbox/missed-places.ts";
import { hiddenPaths } from "../../../src/workspace/sandbox/hidden-paths.ts";
import { isPlainGitConfig, VISIBLE_IN_HOME } from "../../../src/workspace/sandbox/visible-paths.ts";
import { type RunOptions, sandboxHome } from "./run-confined.ts";

const CANARY = "sk-CANARY-0123456789";

const sandbox = await sandboxHome();
const { home, state, run } = sandbox;
afterAll(() => sandbox[Symbol.dispose]());

/** Credentials, histories and files of shells, each as a file that a program keeps there. */
const PRIVATE = `
  .ssh/id_ed25519 .gnupg/key .aws/credentials .kube/config .docker/config.json .npmrc .netrc .git-credentials .pgpass .env
  .config/Bitwarden/data.json .electrum/wallet .bitcoin/wallet.dat .local/share/uv/credentials/credentials.toml
  .supabase/access-token .databricks/token-cache.json .netlify/config.json .minikube/client.key .config/kaggle/kaggle.json
  .android/adbkey .mylogin.cnf .authinfo .dockercfg .smbcredentials .bundle/config .ivy2/.credentials .sbt/.credentials
  .sbt/1.0/credentials.sbt .fetchmailrc .offlineimaprc .expo/state.json .cargo/credentials.toml .config/gh/hosts.yml
  .local/share/atuin/history.db .config/zsh/.zsh_history .local/share/zsh/history .xonsh_history .viminfo .lesshst
  .mongodb/history .bash_history .bashrc .profile .zshrc .config/fish/config.fish .mozilla/cookies .claude/settings.json
  .gradle/gradle.properties .m2/settings.xml .composer/auth.json .gem/credentials .cache/huggingface/token .pub-cache/credentials.json
  .a-tool-that-nobody-knows/token Documents/private.txt other-project/.env
`
  .trim()
  .split(/\s+/);

/** What programs need. */
const NEEDED = `
  .cargo/registry/index .rustup/toolchain .nvm/alias .npm/_cacache/entry .local/bin/tool .local/share/pnpm/store
  .local/share/uv/python/version .cache/uv/wheel .cache/huggingface/hub/model go/pkg/mod .pyenv/version .m2/repository/a.jar
  .gradle/caches/a .deno/bin .sbt/boot/a .ivy2/cache/a .gem/ruby/a .pub-cache/hosted .gitconfig
`
  .trim()
  .split(/\s+/);

function put(top: string, paths: readonly string[], content: string): void {
  for (const path of paths) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), content);
  }
}

/** A folder beside the home, which is below no other one. */
function beside(name: string): string {
  const path = `${home}-${name}`;
  mkdirSync(path);
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe.skipIf(sandbox.reason !== null)("a command in the sandbox", () => {
  put(home, PRIVATE, CANARY);
  put(home, NEEDED, "# needed\n");

  /** Which of the files below a folder a command can read. */
  const readable = async (
    top: string,
    paths: readonly string[],
    options: RunOptions = {},
  ): Promise<readonly string[]> => {
    const line = `for path in ${paths.join(" ")}; do [ -s "${top}/$path" ] && cat "${top}/$path" >/dev/null && echo "$path"; done`;
    const { output } = await run(line, options);
    return output.split("\n").filter((path) => path !== "");
  };

  it("[SANDBOX-3] [SANDBOX-51] sees no credential, history or file of a shell in the home", async () => {
    expect(await readable(home, PRIVATE)).toEqual([]);
    const { output } = await run(`ls -A '${home}'`);
    const names = new Set([...NEEDED, "project"].map((path) => path.split("/", 1)[0]));
    // empty folders are there for what is hidden in what is visible
    expect(
      output
        .trim()
        .split("\n")
        .filter((name) => !names.has(name)),
    ).toEqual([]);
  });

  it("[SANDBOX-52] sees toolchains, caches and the session's folder, and changes only that", async () => {
    expect(await readable(home, NEEDED)).toEqual(NEEDED);
    const { output } = await run(
      `echo made >made; cat ../project/made; echo x >${home}/.nvm/new; echo x >${home}/new; mkdir ${home}/.ssh`,
    );
    expect(output).toMatch(/^made\n/);
    expect(output.match(/Read-only file system/g)).toHaveLength(3);
  });

  it.each([
    [
      "is a link",
      () => {
        const link = `${home}-link`;
        symlinkSync(home, link);
        onTestFinished(() => rmSync(link));
        return link;
      },
    ],
    ["is not that of the account", () => home],
  ])("[SANDBOX-51] the home %s", async (_, options) => {
    const given = { env: { HOME: options() } };
    const top = given.env.HOME;
    expect(await readable(top, PRIVATE, given)).toEqual([]);
    expect(await readable(home, PRIVATE, given)).toEqual([]);
    expect(await readable(top, NEEDED, given)).toEqual(NEEDED);
  });

  it.each(["/", "", "relative", "/usr", "/nowhere"])(
    "[SANDBOX-51] runs if the home is %j, and does not see that of the account",
    async (given) => {
      const { output } = await run(`ls -A ${userInfo().homedir}`, { env: { HOME: given } });
      expect(output).not.toMatch(/\.(?:bashrc|profile|ssh)\b/);
      expect((await run("node --version && env true", { env: { HOME: given } })).code).toBe(0);
    },
  );

  it("[SANDBOX-53] sees what the user names, with what is hidden in it still hidden", async () => {
    const paths = [
      ".config/gh/hosts.yml",
      ".config/tool/settings",
      ".docker/config.json",
      ".netrc",
    ];
    put(home, [".config/tool/settings"], "settings");
    expect(await readable(home, paths)).toEqual([]);
    expect(await readable(home, paths, { visible: [".config"] })).toEqual([
      ".config/tool/settings",
    ]);
    expect(
      await readable(home, paths, { visible: [".docker", ".config/tool", ".nowhere"] }),
    ).toEqual([".config/tool/settings", ".docker/config.json"]);
    // Reprise's own files are hidden from every command
    put(state, ["secret"], CANARY);
    const own = { visible: ["state", "state/secret"] };
    expect(await readable(state, ["secret"], own)).toEqual([]);
  });

  it("[SANDBOX-62] sees nothing hidden by a link that the user names, unless he names the place itself", async () => {
    put(home, [".docker/config.json", ".docker/trust/key"], CANARY);
    symlinkSync(join(home, ".docker"), join(home, "to-hidden"));
    symlinkSync(join(home, ".docker/trust"), join(home, "below-hidden"));
    const paths = ["to-hidden/config.json", "below-hidden/key", ".docker/trust/key"];
    expect(await readable(home, paths, { visible: ["to-hidden", "below-hidden"] })).toEqual([]);
    expect(await readable(home, paths, { visible: ["below-hidden", ".docker/trust"] })).toEqual([
      "below-hidden/key",
      ".docker/trust/key",
    ]);
  });

  it("[SANDBOX-52] follows links of the home to toolchains elsewhere, and to no other home", async () => {
    const elsewhere = beside("elsewhere");
    put(elsewhere, ["jdk/release"], "17");
    put(home, ["tools/volta/bin/node"], "volta");
    symlinkSync(elsewhere, join(home, ".sdkman"));
    symlinkSync(join(home, "tools/volta"), join(home, ".volta"));
    symlinkSync(home, join(home, ".asdf"));
    const paths = [".sdkman/jdk/release", ".volta/bin/node", "tools/volta/bin/node"];
    expect(await readable(home, [...paths, ".asdf/.netrc", ".netrc"])).toEqual(paths);
  });

  it("[SANDBOX-52] starts programs of PATH in the home, with what is around them", async () => {
    const bin = join(home, "languages/a/bin");
    put(home, ["languages/a/lib/library", "languages/b/secret", ".tools/secret"], "from a library");
    put(
      home,
      ["languages/a/bin/hello", ".tools/bin/short"],
      `#!/bin/sh\ncat '${bin}/../lib/library'\n`,
    );
    for (const path of [join(bin, "hello"), join(home, ".tools/bin/short")]) {
      chmodSync(path, 0o755);
    }
    const env = { PATH: `${bin}:${home}/.tools/bin:${home}:/usr/bin:/bin` };
    const { output } = await run("hello; short; cat ~/languages/b/secret ~/.tools/secret", { env });
    expect(output).toMatch(
      /^from a libraryfrom a library(?:cat: .*No such file or directory\n){2}$/,
    );
  });

  it("[SANDBOX-54] sees the repository around the folder, and that of a linked worktree", async () => {
    const git = (at: string, ...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd: at,
        stdio: "pipe",
        env: { PATH: process.env["PATH"] ?? "", HOME: home },
      });
    const [main, tree] = [join(home, "main"), join(home, "tree")];
    put(main, ["pkg/a", "tsconfig.json"], "x");
    git(main, "init", "-q");
    git(main, "add", ".");
    git(main, "commit", "-qm", "one");
    git(main, "worktree", "add", "-q", tree);
    put(home, ["claims/.git"], `gitdir: ${main}/.git/worktrees/tree\n`);
    const safe = {
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
    };
    const at = (path: string) => ({ at: join(home, path), env: safe });
    expect((await run("git log --format=%s; cat ../tsconfig.json", at("main/pkg"))).output).toBe(
      "one\nx",
    );
    expect((await run("git log --format=%s; git status --short", at("tree"))).output).toBe("one\n");
    // a file that names a repository which does not know it
    expect((await run("ls -A ../main", at("claims"))).code).not.toBe(0);
  });

  it("[SANDBOX-52] sees git's own settings unless they hold what looks like a password", async () => {
    const path = [".gitconfig"];
    expect(await readable(home, path)).toEqual(path);
    writeFileSync(join(home, ".gitconfig"), `[http]\n\textraHeader = Authorization: ${CANARY}\n`);
    expect(await readable(home, path)).toEqual([]);
  });
});

it("[SANDBOX-52] names nothing as visible that is on the list of what is hidden", () => {
  const hidden = hiddenPaths(["/home/ada"]);
  const isIn = (path: string) => hidden.some((each) => `${path}/`.startsWith(`${each}/`));
  expect(VISIBLE_IN_HOME.filter((name) => isIn(`/home/ada/${name}`))).toEqual([]);
});

it.each([
  [true, "[user]\n\tname = Ada\n[credential]\n\thelper = store\n[include]\n\tpath = ~/work"],
  [true, `[url "git@github.com:"]\n\tinsteadOf = https://github.com/`],
  [false, `[url "https://ada:x@example.com/"]\n\tinsteadOf = https://example.com/`],
  [false, "[github]\n\ttoken = x"],
  [false, "[alias]\n\tx = !curl -H ghp_x"],
])("[SANDBOX-52] takes git's settings as free of passwords: %s for %j", (expected, text) => {
  expect(isPlainGitConfig(text)).toBe(expected);
});

it.each([
  ["cat: /home/ada/.foo: No such file", ["~/.foo"]],
  [
    "open ~/.foo/bar/baz.json and $HOME/.local/share/tool/x.",
    ["~/.foo/bar", "~/.local/share/tool"],
  ],
  ["/home/ada/.nvm/x /home/ada/project/src/a.ts:3 /home/adam/x", []],
  ["/home/ada/../etc /home/ada/ x/home/ada/y", []],
  ["~/a ~/b ~/c ~/d", ["~/a", "~/b", "~/c"]],
])("[SANDBOX-55] of the output %j it missed %j", (output, expected) => {
  const seen = ["/home/ada/project", "/home/ada/.nvm"];
  expect(missedPlaces(output, { homes: ["/home/ada"], seen })).toEqual(expected);
});
