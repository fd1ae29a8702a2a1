import { type Check, ok } from "../../store/verify/check.ts";

/** Whether commands of the agent would run in a sandbox here; starts one, and leaves nothing behind. */
export async function checkSandbox(): Promise<Check> {
  const { createSandboxProbe } = await import("../../exchange/sandbox/probe.ts");
  const { reason } = await createSandboxProbe()();
  // it works without one, too
  return ok(
    "sandbox",
    reason === null
      ? "Commands of the agent run in a sandbox (bubblewrap)."
      : `Commands of the agent run without a sandbox, and ask: ${reason}.`,
  );
}
