import { Command } from "commander";

import { createNearestName } from "../../core/text/nearest-name.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/** `help [command…]`: the same as `--help` after those words. */
export function helpCommand(): Command {
  const command = new Command("help")
    .description("show what a command does, with its options")
    .argument("[command...]", "such as: sessions list")
    .action((words: readonly string[]) => {
      let found = command.parent ?? command;
      for (const word of words) {
        const next = found.commands.find((each) => each.name() === word);
        if (next === undefined) {
          throw unknownCommand(word, found);
        }
        found = next;
      }
      found.outputHelp();
    });
  return command;
}

function unknownCommand(wrong: string, { commands }: Command): Error {
  const nearest = createNearestName(commands.map((each) => each.name()))(wrong);
  return wrongUsage(
    `There is no such command; ${nearest === undefined ? "`reprise help` shows all" : `perhaps ${nearest} is meant`}.`,
  );
}
