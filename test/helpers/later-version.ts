import { latestVersion } from "../../src/store/engines/migrations/history.ts";

/** The step that `fixtures/later-version.js` adds to the history. */
export const LATER_VERSION = latestVersion() + 1;
/** As `upgrade` names it. */
export const LATER_STEP = `${String(LATER_VERSION).padStart(4, "0")}-later`;

/**
 * The environment of programs of a later version, whose history has one step more than this one's: for them, what this
 * version stores is the database of an older one. The step adds a column `later` to `sessions`, and a table
 * `later_things`.
 */
export const LATER = {
  env: {
    NODE_OPTIONS: [
      process.env["NODE_OPTIONS"],
      `--import=${new URL("../fixtures/later-version.js", import.meta.url).href}`,
    ].join(" "),
  },
};
