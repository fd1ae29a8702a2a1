import { RepriseError } from "../../core/errors.ts";
import type { Caller } from "../../core/origins.ts";

/** For whatever runs the agent or cannot be undone. Error codes: `token_required`. */
export function requireToken({ authenticated }: Caller, what = "run the agent"): void {
  if (!authenticated) {
    throw new RepriseError(
      "token_required",
      `The service has no token, so everybody on its machine could ${what}. Start it with --token-file.`,
    );
  }
}
