import { configFile, settingsOf } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import type { Theme } from "./theme.ts";

/** The theme of what a command prints on a terminal. A config that cannot be read does not stop it. */
export async function themeOf(cli: CliContext): Promise<Theme> {
  const [{ createTheme }, { existsSync }] = await Promise.all([
    import("./themes.ts"),
    import("node:fs"),
  ]);
  const file = configFile(cli);
  const config =
    file === null || !existsSync(file)
      ? null
      : await settingsOf(cli)
          .config()
          .catch(() => null);
  return createTheme({ env: cli.env, setting: config?.theme ?? "auto" });
}
