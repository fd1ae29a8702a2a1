import { Command, Option } from "commander";

import { AGENT_HELP, type ChatOptions, EVENTS_OPTION } from "./commands/chat/chat-options.ts";
import type { CliContext } from "./process/context.ts";
import { withStore } from "./process/database.ts";
import { ANSWER_AFTER_HELP, answerAfter } from "./commands/answer-after-option.ts";
import { WHEN_LIMITED } from "../core/model-settings.ts";
import { cacheOption, effortOption, fallbackOption } from "./process/model-settings.ts";
import { addPriceLimit, addTokenLimit } from "./commands/limit-options.ts";
import { addAllowed, PERMISSION_HELP, permissionMode } from "./commands/permission-options.ts";
import { wrongUsage } from "./process/wrong-usage.ts";

/**
 * Commands in the order of the help. Each is loaded only when it is used, so none costs the others
 * time.
 */
type CommandTable = Readonly<Record<string, (cli: CliContext) => Promise<Command>>>;

const SESSIONS: CommandTable = {
  list: async (cli) => (await import("./commands/sessions/list.ts")).listCommand(cli),
  show: async (cli) => (await import("./commands/sessions/show.ts")).showCommand(cli),
  resume: async (cli) => (await import("./commands/sessions/resume.ts")).resumeCommand(cli),
  answer: async (cli) => (await import("./commands/sessions/answer.ts")).answerCommand(cli),
  changes: async (cli) => (await import("./commands/sessions/changes.ts")).changesCommand(cli),
  undo: async (cli) => (await import("./commands/sessions/undo.ts")).undoCommand(cli),
  redo: async (cli) => (await import("./commands/sessions/undo.ts")).redoCommand(cli),
  end: async (cli) => (await import("./commands/sessions/end.ts")).endCommand(cli),
  fork: async (cli) => (await import("./commands/sessions/fork.ts")).forkCommand(cli),
  tree: async (cli) => (await import("./commands/sessions/tree.ts")).treeCommand(cli),
  rename: async (cli) => (await import("./commands/sessions/label.ts")).renameCommand(cli),
  archive: async (cli) => (await import("./commands/sessions/label.ts")).archiveCommand(cli),
  unarchive: async (cli) => (await import("./commands/sessions/label.ts")).unarchiveCommand(cli),
  pin: async (cli) => (await import("./commands/sessions/label.ts")).pinCommand(cli),
  unpin: async (cli) => (await import("./commands/sessions/label.ts")).unpinCommand(cli),
  move: async (cli) => (await import("./commands/sessions/move.ts")).moveCommand(cli),
  export: async (cli) => (await import("./commands/sessions/export.ts")).exportCommand(cli),
  import: async (cli) => (await import("./commands/sessions/import.ts")).importCommand(cli),
  delete: async (cli) => (await import("./commands/sessions/delete.ts")).deleteCommand(cli),
  prune: async (cli) => (await import("./commands/sessions/prune.ts")).pruneCommand(cli),
  verify: async (cli) => (await import("./commands/sessions/verify.ts")).verifyCommand(cli),
  repair: async (cli) => (await import("./commands/sessions/repair.ts")).repairCommand(cli),
};

const THREADS: CommandTable = {
  list: async (cli) => (await import("./commands/threads/list.ts")).listCommand(cli),
  show: async (cli) => (await import("./commands/threads/show.ts")).showCommand(cli),
  export: async (cli) => (await import("./commands/threads/export.ts")).exportCommand(cli),
  import: async (cli) => (await import("./commands/threads/import.ts")).importCommand(cli),
  delete: async (cli) => (await import("./commands/threads/delete.ts")).deleteCommand(cli),
  prune: async (cli) => (await import("./commands/threads/prune.ts")).pruneCommand(cli),
};

const PLAN: CommandTable = {
  validate: async (cli) => (await import("./commands/plan/validate.ts")).validateCommand(cli),
  show: async (cli) => (await import("./commands/plan/show.ts")).showCommand(cli),
  graph: async (cli) => (await import("./commands/plan/graph.ts")).graphCommand(cli),
  new: async (cli) => (await import("./commands/plan/new.ts")).newCommand(cli),
  import: async (cli) => (await import("./commands/plan/import.ts")).importCommand(cli),
  run: async (cli) => (await import("./commands/plan/run.ts")).runCommand(cli),
  resume: async (cli) => (await import("./commands/plan/resume.ts")).resumeCommand(cli),
  retry: async (cli) => (await import("./commands/plan/retry.ts")).retryCommand(cli),
  status: async (cli) => (await import("./commands/plan/status.ts")).statusCommand(cli),
  report: async (cli) => (await import("./commands/plan/report.ts")).reportCommand(cli),
  runs: async (cli) => (await import("./commands/plan/runs.ts")).runsCommand(cli),
};

const GROUPS = { sessions: SESSIONS, threads: THREADS, plan: PLAN };

const COMMANDS: CommandTable = {
  sessions: (cli) =>
    group(cli, SESSIONS, {
      name: "sessions",
      description:
        "list, show, resume, end, fork, draw, undo, rename, archive, pin, export, import, delete, prune, verify and repair sessions",
    }),
  threads: (cli) =>
    group(cli, THREADS, {
      name: "threads",
      description: "list, show, export, import, delete and prune threads that belong to no session",
    }),
  search: async (cli) => (await import("./commands/search.ts")).searchCommand(cli),
  resume: async (cli) => (await import("./commands/sessions/resume.ts")).resumeCommand(cli),
  send: async (cli) => (await import("./commands/chat/send.ts")).sendCommand(cli),
  follow: async (cli) => (await import("./commands/chat/follow.ts")).followCommand(cli),
  stop: async (cli) => (await import("./commands/stop.ts")).stopCommand(cli),
  serve: async (cli) => (await import("./commands/serve/serve.ts")).serveCommand(cli),
  acp: async (cli) => (await import("./commands/acp.ts")).acpCommand(cli),
  share: async (cli) => (await import("./commands/share.ts")).shareCommand(cli),
  tokens: async (cli) => (await import("./commands/tokens.ts")).tokensCommand(cli),
  backup: async (cli) => (await import("./commands/copy/backup.ts")).backupCommand(cli),
  upgrade: async (cli) => (await import("./commands/copy/upgrade.ts")).upgradeCommand(cli),
  copy: async (cli) => (await import("./commands/copy/copy.ts")).copyCommand(cli),
  sync: async (cli) => (await import("./commands/copy/sync.ts")).syncCommand(cli),
  doctor: async (cli) => (await import("./commands/doctor.ts")).doctorCommand(cli),
  plan: (cli) =>
    group(cli, PLAN, {
      name: "plan",
      description: "check, draw and run phase plans (dev/phase-plan@1)",
    }),
  schema: async (cli) => (await import("./commands/schema.ts")).schemaCommand(cli),
  personas: async (cli) => (await import("./commands/personas.ts")).personasCommand(cli),
  setup: async (cli) => (await import("./commands/setup/setup.ts")).setupCommand(cli),
  models: async (cli) => (await import("./commands/models.ts")).modelsCommand(cli),
  mcp: async (cli) => (await import("./commands/mcp.ts")).mcpCommand(cli),
  stats: async (cli) => (await import("./commands/stats.ts")).statsCommand(cli),
  permission: async (cli) => (await import("./commands/permission.ts")).permissionCommand(cli),
  config: async (cli) => (await import("./commands/configure.ts")).configCommand(cli),
  trust: async (cli) => (await import("./commands/trust.ts")).trustCommand(cli),
  completion: async (cli) =>
    (await import("./commands/completion/command.ts")).completionCommand(cli),
  help: async () => (await import("./commands/help.ts")).helpCommand(),
};

/** Command that the scripts of `completion` call; no help shows it. */
const COMPLETE: CommandTable = {
  complete: async (cli) => (await import("./commands/completion/command.ts")).completeCommand(cli),
};

/**
 * The command line, with the commands that the arguments name. Parsing throws CommanderError for
 * wrong usage instead of exiting.
 */
export async function createProgram(cli: CliContext): Promise<Command> {
  const program = new Command("reprise");
  program
    .description("Long conversations with an agent that survive a closed terminal.")
    .version(cli.version)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.stdout.print(text),
      writeErr: (text) => cli.stderr.print(text),
      // main.ts shows errors, commander's among them, in one way: see show-error.ts
      outputError: () => undefined,
    })
    .option("--session <id|prefix>", "continue this session (a new full id creates one)")
    .option("--continue", "continue the latest session that you began or opened in this folder")
    .option("--any", "with --continue: also sessions that -p or HTTP created")
    .option("--persona <name>", "who answers: assistant, planner, reviewer or one of yours")
    .option("--model <provider:model>", "anthropic:…, openai:…, ollama:… or demo")
    .option(
      "--switch <provider:model>",
      "on a session: another model continues the conversation (--model begins a fresh context)",
    )
    .option(
      "--effort <effort>",
      "how much the model reasons: off, low … max, or default",
      effortOption,
    )
    .option(
      "--cache <time>",
      "how long its provider keeps what it read: 5m, 1h or off",
      cacheOption,
    )
    .option(
      "--fallback <models>",
      "which models answer if its provider cannot, with commas between; none or default",
      fallbackOption,
    )
    .option(
      "--repo <path>",
      "the folder that the agent may read and change (default: the working folder)",
    )
    .option("--agent <module>", AGENT_HELP)
    .option("--trust", "for this run, use the personas and the AGENTS.md in the folder")
    .option(
      "--token-limit <what=n>",
      "tokens that an exchange, the session or its tree may use; can be repeated",
      addTokenLimit,
    )
    .option(
      "--price-limit <what=USD>",
      "dollars that an exchange, the session or its tree may cost; can be repeated",
      addPriceLimit,
    )
    .option("--answer-after <time=answer>", ANSWER_AFTER_HELP, answerAfter)
    .option("--plan", "planning mode: the agent reads and plans, and changes nothing")
    .option("--permission <mode>", PERMISSION_HELP, permissionMode)
    .option(
      "--allow <rule>",
      "a call that needs no question in this run, such as 'write_file(docs/**)'; can be repeated",
      addAllowed,
    )
    .option("--no-questions", "ask nothing: what would be asked is denied")
    .option("-p, --prompt <text>", "send one message and exit; - reads it from stdin")
    .option("--continue-exchange", "resume an exchange that was interrupted or failed, and exit")
    .addOption(
      new Option(
        "--when-limited <what>",
        "with -p: wait for the end of a limit of the provider, or fail (the default)",
      ).choices([...WHEN_LIMITED]),
    )
    .option(
      "--accept-pending",
      "accept messages and settings that came over HTTP without authentication",
    )
    .option("--plain", "plain lines in place of the screen; REPRISE_PLAIN=1 always")
    .option("--wait", "if the session is busy, wait until its exchange is done")
    .option("--take-over", "if the session is busy, stop its exchange")
    .option("--json", "print one line of JSON for each exchange")
    .option(EVENTS_OPTION, "print one line of JSON for each event")
    .allowExcessArguments(true)
    .action(async (options: ChatOptions) => {
      const [wrong] = program.args;
      if (wrong !== undefined) {
        const { noSuchCommand } = await import("./output/no-such-command.ts");
        throw noSuchCommand(wrong, commandNames());
      }
      const { chatAction } = await import("./commands/chat/chat.ts");
      await chatAction(cli, program, {
        options,
        watchRun: async (store, session_id) => {
          const { watchRun } = await import("./commands/plan/watch.ts");
          await watchRun(cli, store, { command: program, session_id, json: false });
        },
      });
    });
  withStore(program);
  for (const command of await load(cli, COMMANDS, needsAll(cli))) {
    program.addCommand(command);
  }
  for (const command of await load(cli, COMPLETE, false)) {
    program.addCommand(command, { hidden: true });
  }
  for (const command of allCommands(program)) {
    command.copyInheritedSettings(program).exitOverride().allowExcessArguments(false);
  }
  program.hook("preAction", (_, command) => refuseChatOptions(program, command));
  return program;
}

/** A command that needs one of others: all are loaded if no argument names one. */
async function group(
  cli: CliContext,
  table: CommandTable,
  { name, description }: { readonly name: string; readonly description: string },
): Promise<Command> {
  const isNamed = Object.keys(table).some((word) => cli.args.includes(word));
  const command = new Command(name).description(description);
  for (const member of await load(cli, table, !isNamed || needsAll(cli))) {
    command.addCommand(member);
  }
  return command;
}

/** The commands that some argument names, or all of them. */
function load(cli: CliContext, table: CommandTable, all: boolean): Promise<Command[]> {
  const named = Object.entries(table).filter(([name]) => all || cli.args.includes(name));
  return Promise.all(named.map(([, command]) => command(cli)));
}

/** Help, and the completion of a first word, name commands that the arguments do not. */
function needsAll({ args }: CliContext): boolean {
  return (
    ["--help", "-h", "help"].some((word) => args.includes(word)) ||
    (args[0] === "complete" && !args.some((word) => Object.hasOwn(COMMANDS, word)))
  );
}

function commandNames(): Readonly<Record<string, readonly string[]>> {
  const alone = Object.keys(COMMANDS).map((name) => [name, []]);
  const groups = Object.entries(GROUPS).map(([name, table]) => [name, Object.keys(table)]);
  return Object.fromEntries([...alone, ...groups]);
}

/** The options of a conversation mean nothing to a command; leaving them out in silence misleads. */
function refuseChatOptions(program: Command, command: Command): void {
  const given = program.options.find(
    (option) =>
      !["--database", "--no-backup"].includes(option.long ?? "") &&
      program.getOptionValueSource(option.attributeName()) === "cli",
  );
  if (command !== program && given !== undefined) {
    throw wrongUsage(
      `${given.long ?? given.short ?? "An option"} belongs after the command, if the command has that option. Example: reprise sessions list --json.`,
    );
  }
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)]);
}
