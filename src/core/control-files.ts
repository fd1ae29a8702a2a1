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

/**
 * The entry that a path of names falls under, at whatever depth and however it is spelled; with
 * `rule` only an entry of that rule.
 */
export function controlFileIn(names: readonly string[], rule?: Rule): ControlFile | null {
  const keys = names.map(spellingKey);
  const found = ENTRIES.find(
    ({ file, parts }) =>
      (rule === undefined || file.rule === rule) &&
      keys.some((_, at) => parts.every((part, index) => isSameName(keys[at + index] ?? "", part))),
  );
  return found?.file ?? null;
}

/** True if a path of names falls under an entry, or would with more names below it. */
export function canHoldControlFile(names: readonly string[]): boolean {
  const last = spellingKey(names.at(-1) ?? "");
  return (
    controlFileIn(names) !== null ||
    ENTRIES.some(({ parts }) => parts.slice(0, -1).some((part) => isSameName(last, part)))
  );
}

/** True for git's own folder or file, which is not even read. */
export function isGit(names: readonly string[]): boolean {
  return names.some((name) => isSameName(spellingKey(name), GIT));
}

/**
 * One key for all spellings that some file system takes for one name: case, Unicode normalisation
 * and invisible characters (APFS, HFS+), trailing dots and spaces and `name:stream` (NTFS).
 */
export function spellingKey(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC")
    .replace(/(?<=.):.*$/s, "")
    .replace(/[. ]+$/, "");
}

/** A name in every spelling that some file system takes for it. */
export interface NameKey {
  readonly key: string;
  /** The first six characters of its short names on NTFS: the usual ones, and with a hash. */
  readonly shortStem: string;
  readonly hashedStem: string;
}

const ENTRIES = CONTROL_FILES.map((file) => ({ file, parts: file.name.split("/").map(nameKey) }));
const GIT = nameKey(".git");

export function nameKey(name: string): NameKey {
  const base = name.replace(/^\.+/, "").replace(/\.[^.]*$/, "");
  const shortStem = spellingKey(base.slice(0, 6));
  return {
    key: spellingKey(name),
    shortStem,
    hashedStem: shortStem.slice(0, 2) + ntfsHash(name),
  };
}

/** `key` as `spellingKey` writes it. */
export function isSameName(key: string, part: NameKey): boolean {
  return key === part.key || isShortName(key, part);
}

/**
 * `GIT~1` is `.git`, and `GI7EBA~1` is `.gitmodules`, if a file system gives such names short ones.
 * Of a name with a hash git takes eight characters with any beginning of the stem; so does this.
 */
function isShortName(key: string, { shortStem, hashedStem }: NameKey): boolean {
  const [, stem = "", number = ""] = /^([^.~]{1,6})~(\d+)(?:\..{0,3})?$/.exec(key) ?? [];
  const isHashed = `${stem}~${number}`.length === 8 && hashedStem.startsWith(stem);
  return stem !== "" && (stem === shortStem || isHashed);
}

/** What NTFS puts into a short name if four others took the usual ones; four hexadecimal digits. */
function ntfsHash(name: string): string {
  let sum = 0;
  for (let at = 0; at < name.length; at += 1) {
    sum = (sum * 0x25 + name.charCodeAt(at)) & 0xffff;
  }
  const mixed = Math.abs(Math.imul(sum, 314159269));
  const rest = mixed - Number((BigInt(mixed) * 1152921497n) >> 60n) * 1000000007;
  const digits = (rest & 0xffff).toString(16).padStart(4, "0");
  return digits.split("").toReversed().join("");
}
