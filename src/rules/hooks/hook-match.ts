import { RepriseError } from "../../core/errors.ts";
import type { Hook, HookEvent } from "./hook.ts";

/** Names that are compared as they are, separated by `|`. Everything else is a regular expression. */
const NAMES = /^[\w-]+(?:\|[\w-]+)*$/;
/** Characters of a name that are compared: a regular expression must not be slow. */
const MAX_NAME = 100;

/**
 * True if a hook is for something with one of these names. Nothing and `*` match all; `Write|Edit` is a list of exact
 * names, and any other text a regular expression, found anywhere in the name: "Matcher patterns" of Claude Code's
 * hooks reference.
 */
export function matches({ match }: Pick<Hook, "match">, names: readonly string[]): boolean {
  if (match === null || match === "*") {
    return true;
  }
  if (NAMES.test(match)) {
    return match.split("|").some((name) => names.includes(name));
  }
  const pattern = new RegExp(match);
  return names.some((name) => pattern.test(name.slice(0, MAX_NAME)));
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
