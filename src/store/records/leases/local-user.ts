import { hostname, userInfo } from "node:os";

import { userAt } from "../../../core/consents.ts";

/** Who runs this process: `user@host`. */
export function localUser(): string {
  return userAt(userName(), hostname());
}

/** The number of a user whom the system does not know by name, as in some containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? "");
  }
}
