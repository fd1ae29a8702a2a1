import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Where a session's folder is, as seen from the repository whose configuration names programs in it. */
export const PLACES = ["top", "sub", "worktree", "above", "submodule"] as const;

/** In which file, and how, the configuration says so. */
export const SPELLINGS = [
  "plain",
  "comment",
  "quoted",
  "one line",
  "continuation",
  "include",
  "includeIf",
  "global",
] as const;

/** What it names. */
export const KINDS = [
  "hooks",
  "new hooks",
  "fsmonitor",
  "fsmonitor script",
  "filter",
  "editor",
  "gpg",
  "external diff",
  "alias",
] as const;

export interface SetUp {
  readonly place: (typeof PLACES)[number];
  readonly spelling: (typeof SPELLINGS)[number];
  readonly kind: (typeof KINDS)[number];
}

export interface MadeSetUp {
  /** Of the session. */
  readonly folder: string;
  /** Where the user works with git. */
  readonly top: string;
  /** Programs that git runs, relative to the session's folder. */
  readonly targets: readonly string[];
}

/** In every file of the user that no command may move. */
export const USER = "made by the user";

const TOOLS = "tools";
const USER_PROGRAM = `#!/bin/sh\n# ${USER}\ncat 2>/dev/null\nexit 0\n`;

function userGit(home: string, at: string, ...args: string[]): void {
  const env = {
    HOME: home,
    PATH: process.env["PATH"] ?? "",
    GIT_EDITOR: undefined,
    GIT_TERMINAL_PROMPT: "0",
    GIT_CEILING_DIRECTORIES: home,
  };
  execFileSync("git", args, { cwd: at, env, stdio: "ignore", timeout: 60_000 });
}

/** Makes it in a new home. */
export function makeSetUp(home: string, { place, spelling, kind }: SetUp): MadeSetUp {
  const git = (at: string, ...args: string[]): void => userGit(home, at, ...args);
  writeFileSync(
    join(home, ".gitconfig"),
    '[user]\n\tname = a\n\temail = a@b\n[protocol "file"]\n\tallow = always\n[init]\n\tdefaultBranch = main\n',
  );
  const { folder, top, configFile } = makeFolders(home, place, git);
  for (const path of ["AGENTS.md", ".vscode/tasks.json", "deep/er/.envrc"]) {
    write(join(folder, path), USER);
  }
  mkdirSync(join(folder, "nested"));
  git(join(folder, "nested"), "init", "-q");
  write(join(folder, "nested/.git/description"), USER);
  const at = relative(top, join(folder, TOOLS));
  const { settings, targets } = namedBy(kind, at);
  for (const path of kind === "new hooks" ? [] : targets) {
    write(join(top, path), path.endsWith("attributes") ? "* filter=x\n" : USER_PROGRAM);
  }
  const text = settings.map((setting) => spelled(setting, spelling)).join("\n");
  writeConfig({ home, folder, configFile, spelling, text });
  return { folder, top, targets: targets.map((path) => relative(folder, join(top, path))) };
}

type Git = (at: string, ...args: string[]) => void;

function makeFolders(home: string, place: SetUp["place"], git: Git) {
  const main = join(home, "work/main");
  const commit = (at: string): void => {
    git(at, "init", "-q");
    write(join(at, "file"), "text\n");
    git(at, "add", "-A");
    git(at, "commit", "-qm", "first");
    write(join(at, ".git/description"), USER);
  };
  mkdirSync(main, { recursive: true });
  commit(main);
  switch (place) {
    case "top":
      return { folder: main, top: main, configFile: join(main, ".git/config") };
    case "sub":
      mkdirSync(join(main, "pkg"));
      return { folder: join(main, "pkg"), top: main, configFile: join(main, ".git/config") };
    case "worktree": {
      const tree = join(home, "work/tree");
      git(main, "worktree", "add", "-q", tree);
      return { folder: tree, top: tree, configFile: join(main, ".git/config") };
    }
    case "above":
      return { folder: dirname(main), top: main, configFile: join(main, ".git/config") };
    case "submodule": {
      const outer = join(home, "work/outer");
      mkdirSync(outer);
      commit(outer);
      git(outer, "submodule", "--quiet", "add", main, "lib");
      git(outer, "commit", "-qm", "second");
      const configFile = join(outer, ".git/modules/lib/config");
      return { folder: outer, top: join(outer, "lib"), configFile };
    }
  }
}

interface Setting {
  readonly section: string;
  readonly name: string;
  readonly value: string;
}

/** Paths are relative to the top of the repository. */
function namedBy(kind: SetUp["kind"], at: string): { settings: Setting[]; targets: string[] } {
  const of = (section: string, name: string, file: string, before = "") => ({
    settings: [{ section, name, value: `${before}${at}/${file}` }],
    targets: [`${at}/${file}`],
  });
  switch (kind) {
    case "hooks":
    case "new hooks":
      return {
        settings: [{ section: "core", name: "hooksPath", value: `${at}/hooks` }],
        targets: ["pre-commit", "post-commit", "post-index-change"].map(
          (name) => `${at}/hooks/${name}`,
        ),
      };
    case "fsmonitor":
      return of("core", "fsmonitor", "fsm");
    case "fsmonitor script":
      return of("core", "fsmonitor", "fsm.sh", "sh ");
    case "filter": {
      const [clean, attributes] = [`${at}/clean`, `${at}/attributes`];
      return {
        settings: [
          { section: 'filter "x"', name: "clean", value: `${clean} %f` },
          { section: "core", name: "attributesFile", value: attributes },
        ],
        targets: [clean, attributes],
      };
    }
    case "editor":
      return of("core", "editor", "editor");
    case "gpg": {
      const { settings, targets } = of("gpg", "program", "gpg");
      return {
        settings: [...settings, { section: "commit", name: "gpgSign", value: "true" }],
        targets,
      };
    }
    case "external diff":
      return of("diff", "external", "diff");
    case "alias":
      return of("alias", "x", "alias", "!");
  }
}

function spelled({ section, name, value }: Setting, spelling: SetUp["spelling"]): string {
  switch (spelling) {
    case "comment":
      return `[${section}]\n  ${name} = ${value} # shared`;
    case "quoted":
      return `[${section}]\n${name}="${value.slice(0, 3)}"${value.slice(3)} ; shared`;
    case "one line":
      return `[${section}] ${name} = ${value}`;
    case "continuation":
      return `[${section}]\n${name} = ${value.slice(0, 3)}\\\n${value.slice(3)}`;
    default:
      return `[${section}]\n\t${name} = ${value}`;
  }
}

function writeConfig(input: {
  readonly home: string;
  readonly folder: string;
  readonly configFile: string;
  readonly spelling: SetUp["spelling"];
  readonly text: string;
}): void {
  const { home, folder, configFile, spelling, text } = input;
  const shared = join(folder, ".gitconfig");
  if (spelling === "global") {
    append(join(home, ".gitconfig"), text);
  } else if (spelling === "include" || spelling === "includeIf") {
    // not counted as the user's: a command may write it once the repository that includes it was renamed
    writeFileSync(shared, `${text}\n`);
    const section = spelling === "include" ? "include" : `includeIf "gitdir:**"`;
    append(configFile, `[${section}]\n\tpath = ${relative(dirname(configFile), shared)}`);
  } else {
    append(configFile, text);
  }
}

function append(path: string, text: string): void {
  writeFileSync(path, `${text}\n`, { flag: "a" });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (text.startsWith("#!")) {
    chmodSync(path, 0o755);
  }
}
