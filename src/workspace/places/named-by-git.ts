import { dirname } from "node:path";

import { commandWords, type NamedWord } from "./command-words.ts";
import { STARTED, USED_FOLDERS } from "./git-user.ts";
import {
  type GitSetting,
  type GitUser,
  gitPath,
  includedBy,
  type Pointer,
  type Repository,
} from "./ask-git.ts";

/** A place that git's configuration names, whether or not something is there. */
export interface NamedPath extends Pointer {
  /** The setting. */
  readonly key: string;
  readonly counts: NamedWord["counts"];
}

/** The value is a path. */
const PATHS =
  /^(?:core\.(?:hookspath|attributesfile|excludesfile)|include(?:if\..*)?\.path|init\.templatedir)$/s;

/** Git runs the value, also without being asked to. */
const COMMANDS =
  /^(?:core\.(?:fsmonitor|sshcommand|gitproxy|pager|editor|askpass|alternaterefscommand)|sequence\.editor|pager\..*|filter\..*\.(?:clean|smudge|process)|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|(?:merge|diff|gui|man|browser)(?:tool)?\..*\.(?:cmd|path)|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|hook\..*\.command|remote\..*\.(?:uploadpack|receivepack|vcs)|trailer\..*\.(?:command|cmd)|uploadpack\.packobjectshook|interactive\.difffilter|submodule\..*\.update|tar\..*\.command|sendemail\..*|instaweb\..*|imap\.tunnel|transfer\..*|receive\..*|lfs\.(?:extension|customtransfer)\..*)$/s;

/** Run when the user calls them by name. */
const ALIASES = /^alias\./;

/** Addresses, which can be commands for `git-remote-ext` and the like. */
const ADDRESSES = /^(?:remote\..*\.(?:url|pushurl)|url\..*|submodule\..*\.url)$/s;

/** Neither run nor obeyed: folders of work trees, branches, people, and what git shows. */
const HARMLESS =
  /^(?:core\.worktree|branch\..*|remote\..*\.(?:fetch|push)|submodule\..*\.(?:path|branch|active)|submodule\.active|safe\..*|maintenance\..*|scalar\..*|gui\..*|user\..*|author\..*|committer\..*|color\..*|blame\..*|mailmap\..*|commit\.template|diff\.orderfile|lfs\.(?!extension\.|customtransfer\.).*)$/s;

/** Returns what settings name, from every place that git could begin relative paths at. */
export function namedByGit(
  settings: readonly GitSetting[],
  { top, git }: Repository,
  user: GitUser,
): readonly NamedPath[] {
  const trees = settings.flatMap(({ key, value }) =>
    key === "core.worktree" ? [gitPath(value, git, user.home)] : [],
  );
  const tops = [top, ...trees];
  const found = settings.flatMap((setting) => {
    const { key, file } = setting;
    const included = includedBy(setting, user);
    if (included !== null) {
      const base = baseOf(setting.value, dirname(file ?? "/"));
      return [{ path: included, key, counts: "any", base } as const];
    }
    const bases = [...tops, ...(file === null ? [] : [dirname(file)])];
    return wordsOf(setting, user).flatMap(({ word, counts }) =>
      bases.map((base) => ({
        path: gitPath(word, base, user.home),
        key,
        counts,
        base: baseOf(word, base),
      })),
    );
  });
  const files = settings.flatMap(({ file, key }) =>
    file === null ? [] : [{ path: file, key, counts: "any", base: null } as const],
  );
  const byPath = new Map([...found, ...files].map((each) => [`${each.counts} ${each.path}`, each]));
  return [...byPath.values()];
}

function baseOf(word: string, base: string): string | null {
  return /^(?::\(optional\))?[/~]/.test(word) ? null : base;
}

function wordsOf({ key, value }: GitSetting, user: GitUser): NamedWord[] {
  if (USED_FOLDERS.includes(key)) {
    return [{ word: value, counts: "any" }];
  }
  if (STARTED.includes(key)) {
    return commandWords(value, "any", user);
  }
  if (HARMLESS.test(key)) {
    return [];
  }
  if (PATHS.test(key)) {
    return value === "" ? [] : [{ word: value, counts: "any" }];
  }
  if (COMMANDS.test(key)) {
    return commandWords(value, "any", user);
  }
  if (ALIASES.test(key)) {
    return commandWords(value, "new", user);
  }
  if (ADDRESSES.test(key)) {
    return [value, key].some((text) => text.includes("::"))
      ? commandWords(`${value} ${key}`, "any", user)
      : [];
  }
  return commandWords(value, "file", user).map(({ word }) => ({ word, counts: "file" }));
}
