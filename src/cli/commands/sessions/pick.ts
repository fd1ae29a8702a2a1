import { RepriseError } from "../../../core/errors.ts";
import { projectOfFolder } from "../../../store/project-id.ts";
import { listSessions } from "../../../store/records/sessions/list.ts";
import type { Store } from "../../../store/store.ts";
import type { CliContext } from "../../process/context.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";
import { showFull } from "../../terminal/screen/full-screen.ts";
import { createPicker } from "../../terminal/picker/picker.ts";
import { createTheme } from "../../terminal/text/themes.ts";
import { createPickSource } from "../pick-source.ts";

/**
 * The id that a person chose on the screen of a terminal; null if they left.
 *
 * Error codes: `session_not_found` if there is no session at all.
 */
export async function pickOnScreen(
  cli: CliContext,
  store: Store,
  terminal: RawTerminal,
): Promise<string | null> {
  const { sessions } = await store.read(listSessions, { limit: 1 });
  if (sessions.length === 0) {
    throw new RepriseError("session_not_found", "No session to resume; begin one with `reprise`.");
  }
  const home = cli.env["HOME"];
  const source = createPickSource({ cli, store, here: await projectOfFolder(cli.cwd), home });
  const theme = createTheme({ env: cli.env });
  return showFull<string | null>(cli, terminal, {
    open: (on) => createPicker({ theme, source, now: Date.now, on }),
    left: null,
  });
}
