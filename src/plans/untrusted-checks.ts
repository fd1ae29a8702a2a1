import { RepriseError } from "../core/errors.ts";

/** Error of a plan with checks in a folder in which no command may run. */
export function untrustedChecks(): RepriseError {
  return new RepriseError(
    "folder_not_trusted",
    "The plan has checks, and commands may not be run in this folder. Use --trust, or `reprise trust add` in the folder.",
  );
}
