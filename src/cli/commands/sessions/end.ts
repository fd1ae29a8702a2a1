import { Command } from "commander";

import { sessionAck } from "../../../core/schemas/answers.ts";
import { titleLine } from "../../../core/text/terminal-text.ts";
import { endSession } from "../../../store/records/sessions/change.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { type CliContext, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";

/** `sessions end <id>`: ending twice changes nothing and is not an error. */
export function endCommand(cli: CliContext): Command {
  const command = new Command("end")
    .description("end a session for good; its messages stay readable")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--json", "print the answer of the HTTP API")
    .action(async (reference: string, options: { json?: true }) => {
      await using store = await openDatabase(cli, command);
      const { id } = await store.read(resolveSession, { reference });
      const session = await store.write(endSession, { id });
      if (options.json === true) {
        printJson(cli, sessionAck(session, session.last_seq));
      } else {
        printLine(cli, `Ended: ${session.id}  ${titleLine(session)}`);
      }
    });
  return withStore(command);
}
