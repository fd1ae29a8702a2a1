import type { Hook, HookEvent } from "../rules/hooks/hook.ts";
import type { OpenedOptions, Prepared } from "./exchange-context.ts";
import type { HookedSession, OpenedHooks } from "./hooks/open-hooks.ts";

/** Events of sub-agents: their messages are their parent's, and their answers are its results. */
const OF_CHILDREN: ReadonlySet<HookEvent> = new Set(["PreToolUse", "PostToolUse", "Notification"]);

/** Returns those of the hooks that an exchange can run. */
export function hooksIn({ within, commands }: OpenedOptions, hooks: readonly Hook[]) {
  return commands === undefined
    ? []
    : hooks.filter(({ event }) => within === undefined || OF_CHILDREN.has(event));
}

/** True if hooks get a message before it is stored. */
export function hearsMessages({ configuredHooks }: Pick<Prepared, "configuredHooks">): boolean {
  return configuredHooks.some(
    ({ event }) => event === "UserPromptSubmit" || event === "SessionStart",
  );
}

/** Opens what runs at events; null if nothing does. The code is loaded then. */
export async function openHooksOf(
  options: OpenedOptions,
  given: Omit<HookedSession, "options">,
): Promise<OpenedHooks | null> {
  const { commands } = options;
  if (given.prepared.configuredHooks.length === 0 || commands === undefined) {
    return null;
  }
  const { openHooks } = await import("./hooks/open-hooks.ts");
  return openHooks({ options: { ...options, commands }, ...given });
}
