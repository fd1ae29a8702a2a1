import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { isRepriseError } from "../../../core/errors.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { isInside } from "../../../workspace/files/real-path.ts";
import { hiddenPaths } from "../../../workspace/sandbox/hidden-paths.ts";
import { type Check, warning } from "../../../store/check.ts";
import { settingsOf } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";

/** Finds what `sandbox.visible` names and no command sees: it is not there, or a link leads to what is hidden. */
export async function checkVisible(cli: CliContext): Promise<Check[]> {
  const home = cli.env["HOME"] ?? homedir();
  const real = await realpath(home).catch(() => home);
  const names = await visibleOf(cli);
  const named = new Set(names.map((name) => join(home, name)));
  const listed = hiddenPaths([home]).filter((path) => !named.has(path));
  const hidden = await Promise.all(listed.map((path) => realpath(path).catch(() => path)));
  const checks = await Promise.all(
    names.map(async (name): Promise<Check[]> => {
      const target = await realpath(join(home, name)).catch(() => null);
      const shown = oneLine(`~/${name}`);
      if (target === null) {
        return [unseen(`${shown}, which does not exist or is a link to nothing.`)];
      }
      const isLink = !names.some((each) => target === join(real, each));
      return isLink && hidden.some((path) => isInside(path, target))
        ? [
            unseen(
              `${shown}, which leads to ${oneLine(target)}: that is hidden from commands, also by another name. Name it itself to show it.`,
            ),
          ]
        : [];
    }),
  );
  return checks.flat();
}

function unseen(what: string): Check {
  return warning("sandbox", `No command sees what sandbox.visible names: ${what}`);
}

/** A config that cannot be used has its own check. */
async function visibleOf(cli: CliContext): Promise<readonly string[]> {
  try {
    return (await settingsOf(cli).at(cli.cwd)).visible;
  } catch (error) {
    if (!isRepriseError(error, "config_invalid")) {
      throw error;
    }
    return [];
  }
}
