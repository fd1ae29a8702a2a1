import type { Compacted } from "../../exchange/exchanger.ts";
import { oneLine } from "../../core/terminal-text.ts";
import { DEFAULT_PERSONA } from "../../exchange/personas/persona.ts";
import { type CliContext, noticeLine } from "../context.ts";
import { personaNotes, whoAnswers } from "../who-answers.ts";
import type { Conversation } from "../../exchange/conversation.ts";
import { wrongUsage } from "../wrong-usage.ts";

/** What the screen does next. */
export type SlashOutcome = "stay" | "leave" | "continue";

interface SlashParts {
  readonly cli: CliContext;
  readonly conversation: Conversation;
  /** Aborted if a person stops what takes long. */
  readonly signal: AbortSignal;
  /** Asks before what cannot be undone. */
  readonly confirm: (question: string) => Promise<boolean>;
}

interface SlashCommand {
  readonly name: string;
  readonly argument?: string;
  readonly help: string;
  carryOut(parts: SlashParts, argument: string): Promise<SlashOutcome>;
}

const COMPACTED: Readonly<Record<Compacted["outcome"], string>> = {
  compacted:
    "Everything before the last exchange is summarised for the model; all messages stay readable.",
  nothing: "There is nothing to summarise before the last exchange.",
  stopped: "Stopped; nothing was summarised.",
};

const COMMANDS: readonly SlashCommand[] = [
  {
    name: "help",
    help: "show this",
    carryOut: async ({ cli }) => {
      for (const { name, argument, help } of COMMANDS) {
        const usage = argument === undefined ? `/${name}` : `/${name} ${argument}`;
        noticeLine(cli, `  ${usage.padEnd(26)}${help}`);
      }
      noticeLine(cli, `  ${"//text".padEnd(26)}send a message that begins with /`);
      return "stay";
    },
  },
  {
    name: "model",
    argument: "<provider:model>",
    help: "answer with another model, in a fresh agent context",
    carryOut: async (parts, model) => {
      if (model === "") {
        const now = parts.conversation.planned().model ?? "the default";
        noticeLine(parts.cli, `model: ${oneLine(now)}`);
        return "stay";
      }
      parts.conversation.checkModel(model);
      return freshThread(parts, { archive: false, model });
    },
  },
  {
    name: "agent",
    argument: "<persona>",
    help: "let another persona answer, in a fresh agent context",
    carryOut: async (parts, persona_name) => {
      if (persona_name === "") {
        const now = parts.conversation.planned().persona_name ?? DEFAULT_PERSONA;
        noticeLine(parts.cli, `persona: ${oneLine(now)}`);
        return "stay";
      }
      const persona = await parts.conversation.checkPersona(persona_name);
      const outcome = await freshThread(parts, { archive: false, persona_name });
      const { model } = await whoAnswers(parts.cli, {
        ...parts.conversation.planned(),
        persona_name,
      });
      for (const note of personaNotes(persona, model)) {
        noticeLine(parts.cli, `note: ${note}`);
      }
      return outcome;
    },
  },
  {
    name: "clear",
    help: "archive all messages and begin a fresh agent context",
    carryOut: async (parts) =>
      (await agrees(parts, "Archive all messages and begin afresh?"))
        ? freshThread(parts, { archive: true })
        : "stay",
  },
  {
    name: "compact",
    help: "summarise older messages for the model; all of them stay",
    carryOut: async ({ cli, conversation, signal }) => {
      const compacted = await conversation.compact(signal);
      noticeLine(cli, COMPACTED[compacted?.outcome ?? "nothing"]);
      return "stay";
    },
  },
  {
    name: "plan",
    argument: "on|off",
    help: "planning mode: look and plan, change nothing",
    carryOut: async ({ cli, conversation }, argument) => {
      const on = argument === "" ? conversation.current()?.plan_mode !== true : argument === "on";
      if (!["", "on", "off"].includes(argument)) {
        throw wrongUsage("Write /plan on or /plan off.");
      }
      await conversation.setPlanMode(on);
      noticeLine(cli, `Planning mode is ${on ? "on" : "off"}.`);
      return "stay";
    },
  },
  {
    name: "continue",
    help: "go on with an exchange that was interrupted or failed",
    carryOut: async () => "continue",
  },
  {
    name: "retry",
    help: "let the model answer a message that failed; it is not stored again",
    carryOut: async () => "continue",
  },
  {
    name: "end",
    help: "end the session for good and leave",
    carryOut: async (parts) => {
      const { cli, conversation } = parts;
      if (!(await agrees(parts, "End this session for good?"))) {
        return "stay";
      }
      const ended = await conversation.end();
      noticeLine(
        cli,
        ended === null ? "Nothing was stored, so nothing ends." : `Session ${ended.id} has ended.`,
      );
      return "leave";
    },
  },
  { name: "exit", help: "leave; the session stays", carryOut: async () => "leave" },
];

/**
 * The command that a line calls; null for a message. Only `/` and a word make a command, so that
 * a path or a line of code is sent as it is.
 */
export function slashCommand(line: string): ((parts: SlashParts) => Promise<SlashOutcome>) | null {
  const match = /^\/([a-z-]+)(?:\s+(.*))?$/s.exec(line.trim());
  if (match === null) {
    return null;
  }
  const command = COMMANDS.find(({ name }) => name === match[1]);
  if (command === undefined) {
    throw wrongUsage(
      "There is no such command; /help shows them all, and // sends a message that begins with /.",
    );
  }
  return (parts) => command.carryOut(parts, (match[2] ?? "").trim());
}

/** A session that is not stored yet has nothing to lose. */
async function agrees(
  { cli, conversation, confirm }: SlashParts,
  question: string,
): Promise<boolean> {
  const yes = conversation.current() === null || (await confirm(question));
  if (!yes) {
    noticeLine(cli, "Nothing was changed.");
  }
  return yes;
}

async function freshThread(
  { cli, conversation }: SlashParts,
  change: { archive: boolean; model?: string; persona_name?: string },
): Promise<SlashOutcome> {
  const session = await conversation.startThread(change);
  noticeLine(
    cli,
    change.archive
      ? `All messages are archived; the agent begins afresh (thread ${session.thread_suffix}).`
      : `The agent begins afresh (thread ${session.thread_suffix}); the messages stay.`,
  );
  return "stay";
}
