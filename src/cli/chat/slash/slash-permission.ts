import { PERMISSION_MODES } from "../../../core/permissions.ts";
import { noticeLine } from "../../process/context.ts";
import type { SlashContext } from "./slash-context.ts";

/** Lists every rule. It is not `all`, which is a mode. */
export const EVERY_RULE = "rules";

/** `/permission`: `remove` and a rule takes back what was allowed. */
export async function permission(
  { cli, conversation }: SlashContext,
  argument: string,
): Promise<void> {
  const { decisionLine, hookLines, permissionLines, stateLines } =
    await import("../../output/permission-lines.ts");
  const mode = PERMISSION_MODES.find((each) => each === argument);
  const removed = /^remove\s+(.+)$/s.exec(argument)?.[1];
  if (mode !== undefined) {
    await conversation.setPermission(mode);
    noticeLine(cli, `The permission mode is ${mode}.`);
    if (mode === "auto") {
      const [, sandbox = ""] = await stateLines(mode);
      noticeLine(cli, sandbox);
    }
  } else if (removed !== undefined) {
    const was = await conversation.removeRule(removed);
    noticeLine(cli, was ? "The rule was removed." : "Nobody allowed this rule in the session.");
  } else if (["", EVERY_RULE].includes(argument)) {
    const forAll = argument === "" ? `/permission ${EVERY_RULE}` : null;
    for (const line of await permissionLines(await conversation.permissions(), { forAll })) {
      noticeLine(cli, line);
    }
  } else {
    noticeLine(cli, decisionLine(await conversation.explain(argument)));
    const hooks = await conversation.explainHooks(argument);
    for (const line of await hookLines(hooks)) {
      noticeLine(cli, line);
    }
  }
}
