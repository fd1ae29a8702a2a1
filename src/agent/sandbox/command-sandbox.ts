import type { ExchangerConfig } from "../../exchange/exchanger.ts";
import type { SandboxSource } from "../../workspace/sandbox/probe.ts";
import { isWideFolder, realFolder } from "../../rules/trust/wide-folder.ts";
import { ownHomes } from "./home-view.ts";
import type { Confine } from "./confine.ts";

/**
 * Finds out, at the first command, whether there is a sandbox here; null if there is none. There is none for the
 * user's home and the folders above it, which a command could change as a whole: what starts every program is there.
 */
export type CommandSandbox = (folder: string) => Promise<Confine | null>;

/** One for all exchanges of a process: commands in one folder take turns. */
export function createCommandSandbox(
  { state, probe }: SandboxSource,
  { settings, protectedPaths, env }: Pick<ExchangerConfig, "settings" | "protectedPaths" | "env">,
): CommandSandbox {
  let opened: Promise<Confine | null> | undefined;
  const open = async (): Promise<Confine | null> => {
    const [{ bubblewrap }, { createConfine }] = await Promise.all([
      probe(),
      import("./confine.ts"),
    ]);
    if (bubblewrap === null || state === null) {
      return null;
    }
    const config = await settings?.config();
    const keyFiles = Object.values(config?.providers ?? {}).flatMap(({ key }) =>
      key !== null && "file" in key ? [key.file] : [],
    );
    const own = [...protectedPaths, ...keyFiles];
    return createConfine({ bubblewrap, state, env, protectedPaths: own });
  };
  return async (folder) => {
    const homes = await Promise.all(ownHomes(null).map(realFolder));
    return homes.some((home) => isWideFolder(folder, home)) ? null : (opened ??= open());
  };
}
