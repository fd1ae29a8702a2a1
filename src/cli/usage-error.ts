import type { CommanderError } from "commander";

import { RepriseError } from "../core/errors.ts";

/**
 * What commander refused, as a refusal of ours: one sentence without the value that was given,
 * which may be a message or a secret. Names of options are told.
 */
export function usageError({ code, message }: CommanderError): RepriseError {
  return new RepriseError("invalid_usage", sentenceOf(code, message.replace(/^error: /, "")));
}

function sentenceOf(code: string, message: string): string {
  switch (code) {
    case "commander.unknownOption": {
      const name = /'(--?[A-Za-z][A-Za-z-]*)/.exec(message)?.[1];
      const meant = /\(Did you mean (.*)\?\)/.exec(message)?.[1];
      const next = meant === undefined ? "--help shows all" : `perhaps ${meant} is meant`;
      return `There is no option${name === undefined ? " like that" : ` ${name}`}; ${next}.`;
    }
    case "commander.invalidArgument": {
      const [, option = "An option", choices = "another value"] =
        /^option '(.*?)' argument .* Allowed choices are (.*)\.$/s.exec(message) ?? [];
      return `${option} takes ${choices.replace(/, (?=[^,]*$)/, " or ")}.`;
    }
    case "commander.unknownCommand":
      return "There is no such command; --help shows all.";
    case "commander.excessArguments":
      return "There are more arguments than the command takes; --help shows how.";
    default: {
      const sentence = message.replace(/\.$/, "");
      return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}; --help shows how.`;
    }
  }
}
