import type { Compacted } from "../../../exchange/exchanger.ts";
import { createNearestName } from "../../../core/text/nearest-name.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { CACHE_RESTARTS, type ModelChoice, restartsCache } from "../../../core/model-settings.ts";
import { cacheOf, effortOf, fallbackOf, fallbackWords } from "../../process/model-settings.ts";
import { continueExchange } from "./continue.ts";
import { permission } from "./slash-permission.ts";
import type { CommandUsage } from "../command-usage.ts";
import type { SlashContext, SlashOutcome } from "./slash-context.ts";
import { note, noticeLine } from "../../process/context.ts";
import { freshModel, pickModel, startThread, switchModel } from "./slash-models.ts";
import { slashParts } from "./slash-parts.ts";
import { personaNotes, whoAnswers } from "../who-answers.ts";
import type { Direction } from "../../../workspace/undo/restore.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

interface SlashCommand extends CommandUsage {
  /** Whether it gives up once its signal is aborted; others run to their end. */
  readonly canStop?: true;
  /** False for one that the row of another one names: the help fits into a screen of 24 rows. */
  readonly isListed?: false;
  /** Nothing means `stay`. */
  run(context: SlashContext, argument: string): Promise<SlashOutcome | void>;
}

const COMPACTED: Readonly<Record<Compacted["outcome"], string>> = {
  compacted:
    "Summarised: of everything before the last exchange the model gets a summary. You can still read all of it.",
  nothing: "There is nothing to summarise before the last exchange.",
  stopped: "Stopped; nothing was summarised.",
};

type WordSetting = "effort" | "cache";

/** A command that shows a setting of the model, or sets it. */
function modelSetting(name: WordSetting): Pick<SlashCommand, "name" | "run"> {
  return {
    name,
    run: async ({ cli, conversation }, argument) => {
      if (argument === "") {
        noticeLine(cli, `${name}: ${conversation.modelSettings()[name] ?? "default"}`);
        return;
      }
      const before = conversation.modelSettings();
      const change = readSetting(name, argument);
      const session = await conversation.setModelSettings(change);
      const isRead = restartsCache({ ...before, last_seq: session.last_seq }, change);
      const again = isRead ? ` ${CACHE_RESTARTS}` : "";
      noticeLine(cli, `${name}: ${session[name] ?? "default"}.${again}`);
    },
  };
}

function readSetting(name: WordSetting, text: string): Partial<ModelChoice> {
  return name === "effort" ? { effort: effortOf(text) } : { cache: cacheOf(text) };
}

const COMMANDS: readonly SlashCommand[] = [
  {
    name: "help",
    help: "show this (/connect sets up a provider)",
    brief: "show this (/connect: a key)",
    run: async ({ cli, front }) => {
      for (const row of front.help(listedUsages())) {
        noticeLine(cli, row);
      }
    },
  },
  {
    name: "model",
    argument: "<provider:model>",
    help: "another model, fresh context (/switch keeps it)",
    brief: "another model (or /switch)",
    note: "Enter: a fresh context. /switch keeps the conversation.",
    run: async (context, model) => {
      if (model === "") {
        await pickModel(context);
      } else {
        await freshModel(context, model);
      }
    },
  },
  {
    name: "switch",
    argument: "<provider:model>",
    help: "let another model continue the conversation",
    brief: "continue with another model",
    isListed: false,
    note: "Enter keeps the conversation. /model: a fresh context.",
    run: switchModel,
  },
  {
    ...modelSetting("effort"),
    argument: "<effort>",
    help: "how much the model reasons (/cache: what is kept)",
    brief: "how much the model reasons",
  },
  {
    ...modelSetting("cache"),
    argument: "<time>",
    help: "how long its provider keeps what it has read",
    isListed: false,
  },
  {
    name: "fallback",
    argument: "<models>",
    help: "which models answer if its provider cannot",
    isListed: false,
    run: async ({ cli, conversation }, argument) => {
      const session =
        argument === ""
          ? conversation.modelSettings()
          : await conversation.setModelSettings({ fallback: fallbackOf(argument) });
      noticeLine(cli, oneLine(`fallback: ${fallbackWords(session.fallback)}`));
    },
  },
  {
    name: "connect",
    help: "choose a provider, give its key, and test a model",
    brief: "set up a provider",
    isListed: false,
    run: async (context) => (await import("./connect.ts")).connectCommand(context),
  },
  {
    name: "agent",
    argument: "<persona>",
    help: "let another persona answer, in a fresh context",
    brief: "let another persona answer",
    run: async (context, persona_name) => {
      if (persona_name === "") {
        noticeLine(context.cli, `persona: ${oneLine(context.conversation.planned().persona_name)}`);
        return;
      }
      const persona = await context.conversation.checkPersona(persona_name);
      await startThread(context, { archive: false, persona_name });
      const { model } = await whoAnswers(context.cli, {
        ...context.conversation.planned(),
        persona_name,
      });
      for (const sentence of personaNotes(persona, model ?? "")) {
        note(context.cli, sentence);
      }
    },
  },
  {
    name: "clear",
    help: "archive all messages and begin a fresh context",
    brief: "archive all; fresh context",
    run: async (context) => {
      if (await agrees(context, "Archive all messages and begin a fresh context?")) {
        await startThread(context, { archive: true });
      }
    },
  },
  {
    name: "compact",
    help: "summarise older messages (or /context, /cost)",
    brief: "summarise (/context, /cost)",
    canStop: true,
    run: async ({ cli, conversation, signal }) => {
      const compacted = await conversation.compact(signal);
      noticeLine(cli, COMPACTED[compacted?.outcome ?? "nothing"]);
    },
  },
  {
    name: "cost",
    help: "show what this exchange and the session have cost",
    isListed: false,
    run: async ({ cli, conversation }) => {
      const { costLines } = await import("../../output/cost-lines.ts");
      for (const line of costLines(await conversation.cost())) {
        noticeLine(cli, line);
      }
    },
  },
  {
    name: "context",
    help: "show what fills the context of the model",
    isListed: false,
    run: async (context) => (await import("./context.ts")).contextSlash(context),
  },
  {
    name: "plan",
    argument: "on|off",
    help: "planning mode: read and plan, change nothing",
    brief: "plan, and change nothing",
    run: async ({ cli, conversation }, argument) => {
      const on = argument === "" ? conversation.current()?.plan_mode !== true : argument === "on";
      if (!["", "on", "off"].includes(argument)) {
        throw wrongUsage("Write /plan on or /plan off.");
      }
      await conversation.setPlanMode(on);
      noticeLine(cli, `Planning mode is ${on ? "on" : "off"}.`);
    },
  },
  {
    name: "permission",
    argument: "<mode>|<call>",
    help: "show the rules, set the mode, explain a call",
    brief: "show and set permissions",
    run: permission,
  },
  {
    name: "undo",
    argument: "<exchange>",
    help: "take back changes of files (or /redo, /diff)",
    brief: "take back changes (or /diff)",
    run: (context, argument) => undo(context, "undo", argument),
  },
  {
    name: "redo",
    argument: "<exchange>",
    help: "make again what was undone",
    isListed: false,
    run: (context, argument) => undo(context, "redo", argument),
  },
  {
    name: "diff",
    argument: "[all]",
    help: "show what the last exchange changed, or the session",
    isListed: false,
    run: async (context, argument) => (await import("./diff.ts")).diffSlash(context, argument),
  },
  {
    name: "rewind",
    argument: "<message>",
    help: "go back to before a message (/fork: begin a fork)",
    brief: "go back (or /fork)",
    run: async (context, argument) => (await import("./rewind.ts")).rewindSlash(context, argument),
  },
  {
    name: "fork",
    argument: "<message>",
    help: "continue in a fork, which ends with a message",
    isListed: false,
    run: async (context, argument) => (await import("./fork.ts")).forkSlash(context, argument),
  },
  {
    name: "copy",
    help: "copy the last answer (/skills: skills, commands)",
    brief: "copy answer (or /skills)",
    run: async (context) => (await import("./copy-answer.ts")).copyCommand(context),
  },
  {
    name: "skills",
    help: "list skills and commands of the folder, and yours",
    isListed: false,
    run: async (context) => (await import("./skills.ts")).skillsCommand(context, COMMANDS),
  },
  {
    name: "export",
    argument: "<file>",
    help: "write the session as Markdown to a new file",
    brief: "write it to a Markdown file",
    canStop: true,
    run: async (context, file) =>
      (await import("./export-session.ts")).exportCommand(context, file),
  },
  {
    name: "continue",
    argument: "[when-reset]",
    help: "resume the last exchange (/retry: after a failure)",
    brief: "resume the last (or /retry)",
    canStop: true,
    run: continueExchange,
  },
  {
    name: "retry",
    help: "ask the model again after a failure",
    isListed: false,
    run: async () => "continue",
  },
  {
    name: "show",
    argument: "<n>",
    help: "open a call in full (/search: in all sessions)",
    brief: "open a tool call in full",
    run: async ({ cli, front }, argument) => {
      if (!/^\d{0,9}$/.test(argument)) {
        throw wrongUsage("Write /show alone, or with the number of a call.");
      }
      const sentence = await front.showDetails(argument === "" ? null : Number(argument));
      if (sentence !== null) {
        noticeLine(cli, sentence);
      }
    },
  },
  {
    name: "search",
    argument: "<words>",
    help: "find messages of all sessions by their words",
    isListed: false,
    canStop: true,
    run: async (context, query) => (await import("./search.ts")).searchSlash(context, query),
  },
  {
    name: "resume",
    argument: "<id>",
    help: "continue another session (/new: begin one; /rename)",
    brief: "another one (/new, /rename)",
    run: async (context, id) => (await import("./other-session.ts")).resumeSlash(context, id),
  },
  {
    name: "new",
    help: "begin a new session here; this one is kept",
    isListed: false,
    run: async (context) => (await import("./other-session.ts")).newSlash(context),
  },
  {
    name: "rename",
    argument: "<name>",
    help: "name this session",
    isListed: false,
    run: async (context, name) => (await import("./other-session.ts")).renameSlash(context, name),
  },
  {
    name: "stop",
    help: "stop the exchange that another process runs",
    brief: "stop what runs elsewhere",
    run: async ({ cli, conversation }) => {
      const { n, state } = await conversation.stop();
      noticeLine(cli, `${state === "running" ? "Stopping" : "Stopped"}: exchange ${n}`);
    },
  },
  {
    name: "end",
    help: "end the session for good and leave",
    brief: "end the session for good",
    run: async (context) => {
      const { cli, conversation } = context;
      if (!(await agrees(context, "End this session for good?"))) {
        return "stay";
      }
      const ended = await conversation.end();
      noticeLine(
        cli,
        ended === null
          ? "No session was stored, so there is none to end."
          : `Session ${ended.id} has ended.`,
      );
      return "leave";
    },
  },
  { name: "exit", help: "leave; the session is kept", run: async () => "leave" },
];

/**
 * The command that a line calls; null for a message. Only `/` and a word make a command, so that
 * a path or a line of code is sent unchanged.
 */
export function slashCommand(line: string): {
  /** Whether it gives up once the signal is aborted. */
  readonly canStop: boolean;
  run(context: SlashContext): Promise<SlashOutcome>;
} | null {
  const called = slashParts(line);
  if (called === null) {
    return null;
  }
  const command = COMMANDS.find(({ name }) => name === called.name);
  if (command === undefined) {
    const nearest = createNearestName(COMMANDS.map(({ name }) => name))(called.name);
    const meant = nearest === undefined ? "" : `perhaps /${nearest} is meant; `;
    throw wrongUsage(
      `There is no such command; ${meant}/help shows them all, and // sends a message that begins with /.`,
    );
  }
  return {
    canStop: command.canStop === true,
    run: async (context) => (await command.run(context, called.argument)) ?? "stay",
  };
}

/** True for a line that would call a command, of which the program has none. */
export function isUnknownCommand(line: string): boolean {
  const called = slashParts(line);
  return called !== null && !COMMANDS.some(({ name }) => name === called.name);
}

/** Every command, in the order of `/help`. */
export function commandUsages(): readonly CommandUsage[] {
  return COMMANDS;
}

/** Commands that /help lists; the others are named in the rows of these. */
export function listedUsages(): readonly CommandUsage[] {
  return COMMANDS.filter(({ isListed }) => isListed !== false);
}

/** True for a line that calls a command. */
export function isCommand(line: string): boolean {
  return COMMANDS.some(({ name }) => line === `/${name}` || line.startsWith(`/${name} `));
}

async function undo(
  { cli, conversation }: SlashContext,
  direction: Direction,
  argument: string,
): Promise<void> {
  if (!/^\d{0,15}$/.test(argument)) {
    throw wrongUsage(`Write /${direction} alone, or with the number of an exchange.`);
  }
  const { undoLines } = await import("../../output/change-lines.ts");
  const undone = await conversation.undo(direction, argument === "" ? undefined : Number(argument));
  for (const line of undoLines(undone, direction, { diffs: false })) {
    noticeLine(cli, line);
  }
}

/** A session that is not stored yet has nothing to lose. */
async function agrees(
  { cli, conversation, confirm }: SlashContext,
  question: string,
): Promise<boolean> {
  const yes = conversation.current() === null || (await confirm(question));
  if (!yes) {
    noticeLine(cli, "Nothing was changed.");
  }
  return yes;
}
