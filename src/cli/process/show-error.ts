import { inspect } from "node:util";

import { CommanderError } from "commander";

import { RepriseError } from "../../core/errors.ts";
import { createConceal, isSecretName } from "../../core/secrets.ts";
import { titleLine } from "../../core/text/terminal-text.ts";
import { type CliContext, noticeJson, noticeLine, noticeNow } from "./context.ts";
import { exitCodeOf } from "./exit-code.ts";
import { asStarted } from "./started-as.ts";
import { wrongUsage } from "./wrong-usage.ts";

/**
 * Prints on standard error what went wrong, in one sentence and without a stack trace, and returns
 * the exit code. With `json` the sentence is a JSON document on one line, with the session if
 * there is one: a program whose first message failed could not find it again otherwise.
 */
export function showError(
  cli: CliContext,
  error: unknown,
  json: boolean,
  session_id?: string,
): number {
  if (error instanceof CommanderError && /^commander\.(help|version)/.test(error.code)) {
    // printed by now; the help of a group without a command is a refusal
    return error.exitCode === 0 ? 0 : 2;
  }
  const known = error instanceof RepriseError ? error : wrapped(cli, error);
  if (json) {
    noticeJson(
      cli,
      errorDocument(known, { session_id, notes: cli.held.splice(0).map(({ text }) => text) }),
    );
  } else {
    noticeLine(cli, `reprise: ${asStarted(cli, known.message)} [${known.code}]`);
    if (known.code === "agent_failed" && known.cause !== undefined) {
      // the person's own code: without its stack nobody finds the error
      noticeLine(cli, withoutKeys(cli, causeText(known.cause)));
    }
    for (const candidate of known.candidates) {
      const { id, last_activity_at } = candidate;
      noticeLine(cli, `  ${id}  ${last_activity_at}  ${titleLine(candidate)}`);
    }
    for (const problem of known.faults) {
      // the pointer to the whole document is empty
      const place = problem.pointer === "" ? "" : `${problem.pointer}: `;
      noticeLine(cli, `  ${place}${problem.message}`);
    }
  }
  return exitCodeOf(known.code);
}

/** JavaScript lets a program throw anything. */
function causeText(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause);
}

/** A provider's error, of a model that the person's code asks, may quote the key. */
function withoutKeys({ env }: CliContext, text: string): string {
  const secrets = Object.entries(env).flatMap(([name, value = ""]) =>
    isSecretName(name) ? { name, value } : [],
  );
  return createConceal(secrets)(text);
}

/**
 * Returns what programs read: fields of the HTTP API's problem documents, and the lines that came before on standard
 * error.
 */
function errorDocument(
  error: RepriseError,
  { session_id, notes }: { readonly session_id: string | undefined; readonly notes: string[] },
): Record<string, unknown> {
  return {
    code: error.code,
    detail: error.message,
    session_id,
    ...(error.candidates.length > 0 ? { candidates: error.candidates } : {}),
    ...(error.faults.length > 0 ? { faults: error.faults } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
}

/** Wraps an error that is not commander's, which is one in Reprise; REPRISE_DEBUG=1 shows the stack. */
function wrapped(cli: CliContext, error: unknown): RepriseError {
  if (error instanceof CommanderError) {
    return wrongUsage(sentenceOf(error.code, error.message.replace(/^error: /, "")));
  }
  if (isWithoutFolder(error)) {
    return new RepriseError(
      "file_unreadable",
      "The current folder does not exist any more. Change to another one, such as with `cd ~`, and run the command again.",
      { cause: error },
    );
  }
  if (cli.env["REPRISE_DEBUG"] === "1" && error instanceof Error) {
    noticeNow(cli, error.stack ?? error.message);
  }
  return new RepriseError(
    "internal",
    "Something went wrong inside Reprise; what was stored is safe. Set REPRISE_DEBUG=1 to see where, and report it.",
    { cause: error },
  );
}

/** Node.js fails with this when it asks the system for the working folder. */
function isWithoutFolder(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

/**
 * Says what commander refused, in one sentence without the value that was given, which may be a message or a secret.
 * Names of options are shown.
 */
function sentenceOf(code: string, message: string): string {
  switch (code) {
    case "commander.unknownOption": {
      const format = /'--json=([^']*)'/.exec(message)?.[1];
      if (format !== undefined) {
        return format === "events"
          ? "This command reports no events; use --json without a value."
          : "The only value of --json is events: --json=events prints the events of an exchange.";
      }
      const name = /'(--?[A-Za-z][A-Za-z-]*)/.exec(message)?.[1];
      return `There is no option${name === undefined ? " like that" : ` ${name}`}; ${meant(message)}.`;
    }
    case "commander.invalidArgument": {
      const [, option = "An option", choices = "another value"] =
        /^option '(.*?)' argument .* Allowed choices are (.*)\.$/s.exec(message) ?? [];
      return `${option} takes ${choices.replace(/, (?=[^,]*$)/, " or ")}.`;
    }
    case "commander.unknownCommand":
      return `There is no such command; ${meant(message)}.`;
    case "commander.excessArguments":
      return "There are too many arguments; --help shows the usage.";
    default: {
      const sentence = message.replace(/\.$/, "");
      return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}; --help shows how.`;
    }
  }
}

/** The nearest name that commander found. */
function meant(message: string): string {
  const nearest = /\(Did you mean (.*)\?\)/.exec(message)?.[1];
  return nearest === undefined ? "--help shows all" : `perhaps ${nearest} is meant`;
}
