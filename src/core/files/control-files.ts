import { CONTROL_FILES, type ControlFile } from "./control-file-table.ts";

/**
 * The entry that a path of names falls under, at whatever depth and however it is spelled; with
 * `rule` only an entry of that rule.
 */
export function controlFileIn(
  names: readonly string[],
  rule?: ControlFile["rule"],
): ControlFile | null {
  const keys = names.map(spellingKey);
  const found = keys
    .flatMap((key, at) =>
      entriesFor(key).filter(
        ({ file, parts }) =>
          (rule === undefined || file.rule === rule) &&
          parts.every((part, index) => isNamed(keys[at + index] ?? "", part)),
      ),
    )
    .toSorted((one, other) => one.index - other.index)[0];
  return found?.file ?? null;
}

/** The last names of the entries, as they are usually written. */
export function hasUsualControlName(name: string): boolean {
  const key = name.toLowerCase();
  const { lastNames, ends } = tables();
  return lastNames.has(key) || ends.some((end) => key.endsWith(end));
}

/** True if a path of names falls under an entry, or would with more names below it. */
export function canHoldControlFile(names: readonly string[]): boolean {
  const last = spellingKey(names.at(-1) ?? "");
  return (
    controlFileIn(names) !== null ||
    tables().entries.some(({ parts }) => parts.slice(0, -1).some((part) => isNamed(last, part)))
  );
}

/** True for git's own folder or file, which is not even read. */
export function isGit(names: readonly string[]): boolean {
  const { git } = tables();
  return names.some((name) => isSameName(spellingKey(name), git));
}

/**
 * Returns one key for all spellings that some file system takes for one name: case, Unicode normalisation and
 * invisible characters (APFS, HFS+), trailing dots and spaces and `name:stream` (NTFS).
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

/** A part of an entry; `end` is set if any text may come before it. */
interface Part extends NameKey {
  readonly end: string | null;
}

/** The entries as they are compared. Made when first asked for: most commands compare none. */
const tables = (() => {
  let made: ReturnType<typeof makeTables> | null = null;
  return () => (made ??= makeTables());
})();

function makeTables() {
  const entries = CONTROL_FILES.map((file, index) => ({
    file,
    index,
    parts: file.name.split("/").map(partOf),
  }));
  const patterns = entries.filter(({ parts }) => parts[0]?.end !== null);
  return {
    entries,
    patterns,
    byKey: Map.groupBy(entries, ({ parts }) => parts[0]?.key ?? ""),
    ends: patterns.flatMap(({ parts }) => parts[0]?.end ?? []),
    lastNames: new Set(
      CONTROL_FILES.map(({ name }) => name.split("/").at(-1)?.toLowerCase() ?? ""),
    ),
    git: nameKey(".git"),
  };
}

/** Returns the entries that can begin with a name: a short name can be that of any of them. */
function entriesFor(key: string): ReturnType<typeof makeTables>["entries"] {
  const { entries, patterns, byKey } = tables();
  return key.includes("~") ? entries : [...(byKey.get(key) ?? []), ...patterns];
}

function isNamed(key: string, part: Part): boolean {
  return part.end === null ? isSameName(key, part) : key.endsWith(part.end);
}

function partOf(name: string): Part {
  return { ...nameKey(name), end: name.startsWith("*") ? spellingKey(name.slice(1)) : null };
}

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

/** Computes what NTFS puts into a short name if four others took the usual ones; four hexadecimal digits. */
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
