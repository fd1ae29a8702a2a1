import { Argument, Command } from "commander";

import { type CliContext, printLines } from "../../process/context.ts";
import { SCRIPTS, type Shell } from "./scripts.ts";

const SHELLS = Object.keys(SCRIPTS);

/** `completion <shell>`: prints a script that makes the shell complete commands, options and their values. */
export function completionCommand(cli: CliContext): Command {
  return new Command("completion")
    .description("print a script with which a shell completes commands, options, ids and personas")
    .addArgument(new Argument("<shell>", "the shell that reads the script").choices(SHELLS))
    .addHelpText(
      "after",
      `
bash: add to ~/.bashrc:               source <(reprise completion bash)
zsh:  add to ~/.zshrc after compinit: source <(reprise completion zsh)
fish: reprise completion fish > ~/.config/fish/completions/reprise.fish`,
    )
    .action((shell: Shell) => cli.stdout.print(SCRIPTS[shell]));
}

/** `complete -- <word…>`: what the scripts call, with the words after the program's name up to the cursor. */
export function completeCommand(cli: CliContext): Command {
  const command = new Command("complete")
    .argument("[word...]")
    .action(async (words: readonly string[]) => {
      const { candidates } = await import("./candidates.ts");
      printLines(cli, await candidates(cli, command.parent ?? command, words));
    });
  return command;
}
