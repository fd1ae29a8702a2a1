import { Command } from "commander";

import { RepriseError } from "../../../core/errors.ts";
import { refuseEnded } from "../../../store/records/sessions/change.ts";
import { listSessions } from "../../../store/records/sessions/list.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { readSummary } from "../../../store/records/sessions/summaries.ts";
import type { Store } from "../../../store/store.ts";
import { ask } from "../../process/ask.ts";
import { chat } from "../chat/chat.ts";
import { AGENT_HELP, type ChatOptions, EVENTS_OPTION } from "../chat/chat-options.ts";
import { type CliContext, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { screenTerminal } from "../chat/screen-terminal.ts";
import { sessionTable } from "../../output/table.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** Sessions that the picker offers. */
const OFFERED = 20;

type ResumeOptions = Pick<ChatOptions, "json" | "json=events" | "trust" | "agent" | "plain">;

/** `resume [id]`, `sessions resume [id]`: continues a session; without an id, a person in a terminal chooses one. */
export function resumeCommand(cli: CliContext): Command {
  const command = new Command("resume")
    .description("continue a session; without an id, choose one")
    .argument("[id]", "an id, or the first 6 or more characters of it")
    .option("--agent <module>", AGENT_HELP)
    .option("--trust", "for this run, use the personas and the AGENTS.md in its folder")
    .option("--plain", "plain lines in place of the screen; REPRISE_PLAIN=1 always")
    .option("--json", "print the session, then one line of JSON for each exchange")
    .option(EVENTS_OPTION, "print one line of JSON for each event")
    .action(async (id: string | undefined, options: ResumeOptions) => {
      await using store = await openDatabase(cli, command);
      const reference = id ?? (await pick(cli, store, options));
      if (reference === null) {
        return;
      }
      const session = await store.read(resolveSession, { reference });
      refuseEnded(session);
      if (options.json === true) {
        printJson(cli, await store.read(readSummary, session));
      }
      await chat({ cli, store, command, options: { session: session.id, ...options } });
    });
  return withStore(command);
}

/** The id that a person chose; null if they left. */
async function pick(cli: CliContext, store: Store, options: ResumeOptions): Promise<string | null> {
  if (cli.stdin.isTTY !== true) {
    throw wrongUsage(
      "Name the session: `reprise sessions resume <id>`; `reprise sessions list` shows the ids.",
    );
  }
  const terminal = screenTerminal(cli, options);
  if (terminal !== null) {
    const { pickOnScreen } = await import("./pick.ts");
    return pickOnScreen(cli, store, terminal);
  }
  const offered = { limit: OFFERED, state: "active", archived: false } as const;
  const { sessions } = await store.read(listSessions, offered);
  if (sessions.length === 0) {
    throw new RepriseError("session_not_found", "No session to resume; begin one with `reprise`.");
  }
  for (const [index, row] of (await sessionTable(store, { sessions }, cli.env["HOME"])).entries()) {
    printLine(cli, `${(index === 0 ? "" : String(index)).padStart(2)}  ${row}`);
  }
  const answer = await ask(cli, { question: "Which one? ", on: cli.stdout });
  if (answer === null) {
    printLine(cli, "");
    return null;
  }
  const chosen = sessions[Number(answer) - 1];
  if (chosen === undefined) {
    throw wrongUsage("This is not one of the numbers shown. Run the command again.");
  }
  return chosen.id;
}
