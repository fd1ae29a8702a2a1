/** When the agent may write a file that other programs execute or obey. */
type Rule = "never" | "for_now";

export interface ControlFile {
  /** One name, or two below each other with `/` between. */
  readonly name: string;
  readonly rule: Rule;
  /** What a written one would do, for the model and for readers of this table. */
  readonly reason: string;
}

/**
 * Files that decide what programs do in a folder, protected at every depth. `never`: they direct
 * agents and git themselves. `for_now`: until a person can be asked.
 */
export const CONTROL_FILES: readonly ControlFile[] = [
  { name: ".git", rule: "never", reason: "git runs hooks and programs that it names" },
  { name: ".reprise", rule: "never", reason: "it directs Reprise" },
  { name: ".claude", rule: "never", reason: "it directs Claude Code and holds its commands" },
  { name: ".agents", rule: "never", reason: "it directs agents" },
  { name: ".codex", rule: "never", reason: "it directs Codex and holds its commands" },
  { name: "AGENTS.md", rule: "for_now", reason: "every agent obeys it from then on" },
  { name: "CLAUDE.md", rule: "for_now", reason: "Claude Code obeys it from then on" },
  { name: ".mcp.json", rule: "for_now", reason: "agents start the servers that it names" },
  { name: ".vscode", rule: "for_now", reason: "the editor runs its tasks" },
  { name: ".idea", rule: "for_now", reason: "the editor runs its configurations" },
  { name: ".envrc", rule: "for_now", reason: "the shell runs it on entering the folder" },
  {
    name: ".github/workflows",
    rule: "for_now",
    reason: "GitHub runs it with the project's rights",
  },
  { name: ".husky", rule: "for_now", reason: "git runs its hooks" },
  { name: ".npmrc", rule: "for_now", reason: "npm takes packages and programs from where it says" },
  { name: ".gitattributes", rule: "for_now", reason: "git runs the filters that it names" },
  { name: ".gitmodules", rule: "for_now", reason: "git fetches what it names" },
];

/** The entry that a path of names falls under, at whatever depth and however it is spelled. */
export function controlFileIn(names: readonly string[]): ControlFile | null {
  const keys = names.map(spellingKey);
  const found = ENTRIES.find(({ parts }) =>
    keys.some((_, at) => parts.every((part, index) => isSame(keys[at + index] ?? "", part))),
  );
  return found?.file ?? null;
}

/** True for git's own folder or file, which is not even read. */
export function isGit(names: readonly string[]): boolean {
  return names.some((name) => isSame(spellingKey(name), ".git"));
}

/**
 * One key for all spellings that some file system takes for one name: case, Unicode normalisation
 * and invisible characters (APFS, HFS+), trailing dots and spaces and `name:stream` (NTFS).
 */
function spellingKey(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC")
    .replace(/(?<=.):.*$/s, "")
    .replace(/[. ]+$/, "");
}

const ENTRIES = CONTROL_FILES.map((file) => ({
  file,
  parts: file.name.split("/").map(spellingKey),
}));

function isSame(key: string, part: string): boolean {
  return key === part || isShortName(key, part);
}

/** `GIT~1` is `.git` where a file system gives such names short ones. */
function isShortName(key: string, part: string): boolean {
  const [, stem] = /^([^.~]{1,6})~\d+(?:\..{0,3})?$/.exec(key) ?? [];
  const base = part.replace(/^\.+/, "").replace(/\.[^.]*$/, "");
  return stem === base.slice(0, 6);
}
