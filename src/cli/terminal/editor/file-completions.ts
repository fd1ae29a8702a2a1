import type { FolderFiles } from "../../chat/folder-files.ts";
import type { Completion, Completions } from "./completion.ts";
import { fuzzyMatch } from "../pi/fuzzy.ts";

/** `@` at the beginning of a word, and a path that may be in quotes. */
const MENTION = /(?:^|[\s([{"'])@(?:"([^"\n]*)|([^\s"]*))$/u;
const MAX_ITEMS = 50;
const MAX_WRITTEN = 200;

/** Files and folders after `@`, by any part of their paths. */
export function fileCompletions(files: FolderFiles): Completions {
  return {
    version: files.version,
    find: (before) => {
      const [, inQuotes, plain] = MENTION.exec(before.slice(-MAX_WRITTEN - 2)) ?? [];
      const written = inQuotes ?? plain;
      if (written === undefined) {
        return null;
      }
      const length = written.length + (inQuotes === undefined ? 1 : 2);
      const items = best(files.paths(), written.replace(/^\.\//, "")).map(itemOf);
      return items.length === 0 ? null : { length, items };
    },
  };
}

/** A folder is completed further, so it has no space after it. */
function itemOf(path: string): Completion {
  const isFolder = path.endsWith("/");
  const mention = /[\s"']/u.test(path) ? `@"${path}${isFolder ? "" : '"'}` : `@${path}`;
  return { text: isFolder ? mention : `${mention} `, label: path };
}

/** First what the file's name begins with or holds, then what the path holds, then its letters in their order. */
function best(paths: readonly string[], written: string): readonly string[] {
  const wanted = written.toLowerCase();
  const held = ranked(paths, (path) => rankOf(path, wanted));
  // the slower search is for what nothing else finds
  const rest =
    held.length > 0
      ? []
      : ranked(paths, (path) => (isInOrder(path, wanted) ? score(path, wanted) : null));
  return [...held, ...rest].slice(0, MAX_ITEMS);
}

/** Returns the paths with a rank, the lowest and shortest first. */
function ranked(
  paths: readonly string[],
  rankOf: (lower: string) => number | null,
): readonly string[] {
  const found = paths.flatMap((path) => {
    const rank = rankOf(path.toLowerCase());
    return rank === null ? [] : [{ path, rank }];
  });
  return found
    .sort((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    .map(({ path }) => path);
}

function rankOf(path: string, wanted: string): number | null {
  const name = path.lastIndexOf("/", path.length - 2) + 1;
  if (path.startsWith(wanted) || path.startsWith(wanted, name)) {
    return 0;
  }
  const at = path.lastIndexOf(wanted);
  return at < 0 ? null : at >= name ? 1 : 2;
}

function isInOrder(path: string, wanted: string): boolean {
  let at = -1;
  for (const letter of wanted) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) {
      return false;
    }
  }
  return true;
}

function score(path: string, wanted: string): number {
  return fuzzyMatch(wanted, path).score;
}
