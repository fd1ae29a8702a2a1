import { runInThisContext } from "node:vm";

import { RepriseError } from "../../core/errors.ts";
import type { Hook, HookEvent } from "./hook.ts";

/** Names that are compared as they are, separated by `|`. Everything else is a regular expression. */
const NAMES = /^[\w-]+(?:\|[\w-]+)*$/;
/** Characters of a name that are compared, and time for it: a regular expression may take for ever on few characters. */
const MAX_NAME = 100;
const MATCH_MS = 100;

/**
 * True if a hook is for something with one of these names. Nothing and `*` match all; `Write|Edit` is a list of exact
 * names, and any other text a regular expression, found anywhere in the name: "Matcher patterns" of Claude Code's
 * hooks reference. One that takes too long matches, because a hook may be there to deny. Throws for one that is none.
 */
export function matches({ match }: Pick<Hook, "match">, names: readonly string[]): boolean {
  if (match === null || match === "*") {
    return true;
  }
  if (NAMES.test(match)) {
    return match.split("|").some((name) => names.includes(name));
  }
  const { source } = new RegExp(match);
  return isFoundIn(source, names);
}

function isFoundIn(source: string, names: readonly string[]): boolean {
  const cut = names.map((name) => name.slice(0, MAX_NAME));
  // both are JSON, so that nothing of them is code
  const code = `${JSON.stringify(cut)}.some((name) => new RegExp(${JSON.stringify(source)}).test(name))`;
  try {
    return names.length > 0 && runInThisContext(code, { timeout: MATCH_MS }) === true;
  } catch {
    return true;
  }
}

/** Checks the text of a `match`. Error codes: `invalid_usage`. */
export function parseMatch(text: string): void {
  try {
    matches({ match: text }, []);
  } catch {
    throw new RepriseError(
      "invalid_usage",
      "This is not a regular expression. Write names such as Write|Edit, a regular expression, or * for all.",
    );
  }
}

/** Returns the hooks for an event, each command once. Without names all of them match. */
export function hooksFor(
  hooks: readonly Hook[],
  event: HookEvent,
  names: readonly string[] | null,
): readonly Hook[] {
  const found = hooks.filter(
    (hook) => hook.event === event && (names === null || matches(hook, names)),
  );
  return found.filter(
    ({ command }, at) => found.findIndex((other) => other.command === command) === at,
  );
}
