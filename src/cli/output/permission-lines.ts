import type { PermissionMode } from "../../core/permissions.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import type { Hook } from "../../rules/hooks/hook.ts";
import type { Decision } from "../../rules/permissions/decide.ts";
import type { Judgement } from "../../rules/permissions/judge.ts";
import { aligned } from "./aligned.ts";

/** Whether commands of the agent would run in a sandbox here; starts one, and leaves nothing behind. */
export async function sandboxSentence(): Promise<string> {
  const { createSandboxProbe } = await import("../../workspace/sandbox/probe.ts");
  const { reason } = await createSandboxProbe()();
  return reason === null
    ? "Commands of the agent run in a sandbox (bubblewrap)."
    : `Commands of the agent run without a sandbox, and ask: ${reason}.`;
}

/** The mode, and whether commands run in a sandbox: that decides what the mode `auto` asks. */
export async function stateLines(mode: PermissionMode): Promise<string[]> {
  return [`mode ${mode}`, await sandboxSentence()];
}

/**
 * The mode and the rules as lines: every rule, or only those that were added to the program's, how many paths
 * these protect, and `forAll`, which shows every rule.
 */
export async function permissionLines(
  judgement: Judgement,
  { forAll }: { readonly forAll: string | null },
): Promise<string[]> {
  const { addedRules, allRules, PROTECTED_PATHS } =
    await import("../../rules/permissions/list-rules.ts");
  const rules = forAll === null ? allRules(judgement) : addedRules(judgement);
  const { denied, asked } = PROTECTED_PATHS;
  return [
    ...(await stateLines(judgement.mode)),
    ...(rules.length === 0 ? ["No rules were added to those of the program."] : []),
    ...aligned(rules.map(({ effect, rule, layer }) => [effect, oneLine(rule), oneLine(layer)])),
    ...(forAll === null
      ? []
      : [
          `${denied} protected paths are never changed, ${asked} are asked about in every mode; ${forAll} lists every rule.`,
        ]),
  ];
}

/** Line for a person. */
export function decisionLine({ effect, rule, layer, reason }: Decision): string {
  return oneLine(`${effect}: rule ${rule} (${layer})${reason === null ? "" : `; ${reason}`}`);
}

/** Hooks that would run before and after a call. */
export async function hookLines(hooks: readonly Hook[]): Promise<string[]> {
  if (hooks.length === 0) {
    return [];
  }
  const { hookLine } = await import("../../rules/hooks/hook.ts");
  return hooks.map((hook) => `hook: ${oneLine(hookLine(hook))}`);
}
