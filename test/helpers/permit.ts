import { deniedBecause, type Permit } from "../../src/agent/permit/permit.ts";
import type { PermitFiles } from "../../src/agent/permit/permit-files.ts";
import { refusal } from "../../src/workspace/files/refusal.ts";
import type { KeepChanges } from "../../src/workspace/undo/keeper.ts";
import { decide } from "../../src/rules/permissions/decide.ts";
import { BUILT_IN_TOOLS } from "../../src/rules/tools/built-in.ts";

/** Everything that can be allowed without a question is. */
const permit: Permit = async (_, call) => {
  const decision = decide({
    call,
    tools: BUILT_IN_TOOLS,
    mode: "all",
    user: [],
    restricting: [],
    asks: false,
  });
  if (decision.effect === "deny") {
    throw refusal(deniedBecause(decision));
  }
};

/** Makes changes, and keeps nothing of them. */
const keep: KeepChanges = (_call, _changes, act) => act();

const permitFiles: PermitFiles = async (config, parts) => {
  for (const call of parts.flatMap(({ calls }) => calls)) {
    await permit(config, call, null);
  }
  return parts.map(() => null);
};

/** For an agent that is built without an exchange. */
export const PERMITTED = {
  permit,
  permitFiles,
  keep,
  tools: BUILT_IN_TOOLS,
  restricting: [],
  asks: true,
} as const;
