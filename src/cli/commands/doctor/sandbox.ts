import { type Check, ok } from "../../../store/check.ts";
import { sandboxSentence } from "../../output/permission-lines.ts";

/** Whether commands of the agent would run in a sandbox here; they run without one, too. */
export async function checkSandbox(): Promise<Check> {
  return ok("sandbox", await sandboxSentence());
}
