import { readdir } from "node:fs/promises";
import { join } from "node:path";

import type { RunnableConfig } from "@langchain/core/runnables";
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";

import { commandNote, commandResult } from "../../core/text/command-notes.ts";
import { oneLine, visible } from "../../core/text/terminal-text.ts";
import { visibleBlanks } from "../../core/text/visible-blanks.ts";
import { plainParts } from "../../workspace/commands/plain-line.ts";
import { resolvePath } from "../../rules/paths/resolve-path.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { coveredBy, type Sandbox } from "../../rules/paths/sandbox.ts";
import type { CalledCommand } from "../../rules/permissions/call.ts";
import { LIST_FILES, RUN_COMMAND } from "../../rules/tools/built-in.ts";
import type { RecordCommand } from "../../workspace/undo/commands/record-command.ts";
import { shownCommand } from "../../workspace/commands/shown-command.ts";
import type { CommandEnd, Commands } from "../commands/commands.ts";
import type { Command } from "../commands/launch.ts";
import type { Permit } from "../permit/permit.ts";
import { asksFirst, beginCall } from "../permit/tool-asking.ts";
import type { Change } from "../permit/change.ts";
import { type CallConfig, type Outcome, reportFailure } from "./tool-result.ts";

const DEFAULT_SECONDS = 120;
const MAX_SECONDS = 600;
/** Characters and lines of a command, as it is shown: a person reads all of it before it runs. */
const MAX_SHOWN = 10_000;
const MAX_SHOWN_LINES = 200;

const SCHEMA = z.object({
  argv: z
    .array(z.string())
    .optional()
    .describe('the program and its arguments, such as ["npm", "test"]; preferred'),
  line: z
    .string()
    .optional()
    .describe("instead of argv: a line for /bin/sh, for pipes and the like"),
  folder: z.string().default("."),
  access: z
    .enum(["sandbox", "network", "outside"])
    .default("sandbox")
    .describe(
      "sandbox: changes only this folder, without a network; network: the same with one; outside: all that the user may do. Anything but sandbox asks the user",
    ),
  timeout_s: z.int().min(1).max(MAX_SECONDS).default(DEFAULT_SECONDS).describe("seconds"),
});
type Input = z.output<typeof SCHEMA>;

/** What the tool gets of the session. */
export interface CommandTool {
  /** Gives the work its folder; one after the other, and after changes of files. */
  readonly run: <Output>(work: (sandbox: Sandbox) => Promise<Output>) => Promise<Output>;
  readonly permit: Permit;
  readonly commands: Commands;
  /** Records what a command changes. */
  readonly record: RecordCommand;
  /** Gets the output as it comes. */
  readonly onOutput: (call_id: string, text: string) => void;
}

export const RUN_COMMAND_FORM = {
  name: RUN_COMMAND.name,
  description:
    "Run a program in the repository and wait until it has ended. There is no terminal and no input, and nothing runs on in the background: what a command leaves running is ended with it. The user may be asked first. Give argv; use line only for what needs a shell. A long output is shown in part, and says how to read all of it.",
  schema: SCHEMA,
};

/**
 * Runs a program in the session's folder and waits until it and all that it has started have ended. Without a
 * sandbox: it may do whatever the user may, so each command asks, unless the user's own rule or mode allows it.
 */
export function runCommandTool(context: CommandTool): StructuredToolInterface {
  return asksFirst(
    tool(
      reportFailure((input: Input, config) =>
        context.run((sandbox) => runCommand(context, { input, sandbox, config })),
      ),
      RUN_COMMAND_FORM,
    ),
  );
}

interface CommandCall {
  readonly input: Input;
  readonly sandbox: Sandbox;
  readonly config: CallConfig & RunnableConfig;
}

async function runCommand(
  { permit, commands, record, onOutput }: CommandTool,
  { input, sandbox, config }: CommandCall,
): Promise<Outcome> {
  const command = commandOf(input);
  const shown = shownCommand(input);
  if (shown.length > MAX_SHOWN || shown.split("\n").length > MAX_SHOWN_LINES) {
    throw refusal(
      "the command is too long for a person to check; write a script into a file and run that",
    );
  }
  const { path: cwd, shown: folder, stat } = await resolvePath(sandbox, input.folder, LIST_FILES);
  if (stat?.isDirectory() !== true) {
    throw refusal("the folder of the command does not exist; list_files shows what there is");
  }
  const confine = await commands.confine(sandbox.root);
  const place = confine === null ? "none" : input.access;
  const parts = command.kind === "argv" ? [command.argv] : plainParts(command.line);
  await permit(config, { tool: RUN_COMMAND, file: null, command: { parts, place } }, async () =>
    describe({ shown, folder, cwd, input, place }),
  );
  config.signal?.throwIfAborted();
  await beginCall(config);
  const call_id = config.toolCall?.id ?? "";
  const own = sandbox.guarded.map(({ path }) => path);
  const end = await record({ call_id, tool: RUN_COMMAND.name, root: sandbox.root, own }, async () =>
    commands.run({
      command,
      cwd,
      sandbox:
        confine === null || place === "outside"
          ? null
          : {
              confine,
              folder: sandbox.root,
              network: place === "network",
              hidden: await protectedIn(sandbox),
            },
      timeoutMs: input.timeout_s * 1000,
      signal: config.signal,
      onText: (text) => onOutput(call_id, text),
    }),
  );
  // a person sees at once that a program failed; the model reads how it ended
  return { content: resultOf(end, input, place), status: end.code === 0 ? "ok" : "failed" };
}

/** What the configuration protects, as far as it is there. */
export async function protectedIn(sandbox: Sandbox): Promise<readonly string[]> {
  const { root, configured, patterns } = sandbox;
  const names = patterns.length === 0 ? [] : await readdir(root, { recursive: true });
  const found = names.filter((name) => coveredBy(sandbox, name)).map((name) => join(root, name));
  return [...configured.map(({ path }) => path), ...found];
}

/** Refuses empty commands, and text that a person could not see. */
function commandOf({ argv, line }: Input): Command {
  if ((argv === undefined) === (line === undefined)) {
    throw refusal("give either argv or line");
  }
  const words = argv ?? [line ?? ""];
  if ((words[0] ?? "").trim() === "") {
    throw refusal("the command is empty; name a program");
  }
  if (words.some((word) => visible(word) !== word)) {
    throw refusal(
      "the command has control characters or others that nobody sees; write them as escapes that the program understands",
    );
  }
  return argv === undefined ? { kind: "line", line: line ?? "" } : { kind: "argv", argv };
}

type Place = CalledCommand["place"];

const WITHOUT_LIMITS =
  "it can read, change and send whatever you can, also beyond this folder,\nwith your keys and Reprise's own files, and it could answer Reprise's questions for you.";

/** What a question says about the place of a command. */
const PLACES: Readonly<Record<Place, string>> = {
  none: `It runs without a sandbox: ${WITHOUT_LIMITS}`,
  outside: `It leaves the sandbox: ${WITHOUT_LIMITS}`,
  network:
    "It runs in the sandbox, but with the network: it can send what it reads, and reach the services of this machine.\nIt can change this folder only, and sees of your home folder only toolchains and caches.",
  sandbox:
    "It runs in the sandbox: it can change this folder only, has no network, and sees of your home folder only toolchains and caches.",
};

function describe({
  shown,
  folder,
  cwd,
  input,
  place,
}: {
  readonly shown: string;
  readonly folder: string;
  readonly cwd: string;
  readonly input: Input;
  readonly place: Place;
}): Change {
  const { argv, line, timeout_s } = input;
  const how = argv === undefined ? "A line for /bin/sh:" : "A program and its arguments:";
  const name = oneLine(folder);
  const where = folder === "." ? "the session's folder" : `${name} in the session's folder`;
  return {
    // the command is last, so that no line of it can pass for one of these
    shown: [
      `In ${where}, for ${timeout_s} s at most.`,
      PLACES[place],
      how,
      visibleBlanks(shown),
    ].join("\n"),
    basis: JSON.stringify([argv ?? null, line ?? null, cwd, timeout_s, place]),
    subject: shown,
  };
}

function resultOf(end: CommandEnd, input: Input, place: Place): string {
  const { head, left, tail } = end.output;
  const whole =
    end.name === null
      ? "they are not kept"
      : `read_file shows all of it, with the path ${end.name}`;
  const output =
    left === null ? head : `${head}\n… ${left} bytes are left out here; ${whole} …\n${tail}`;
  const notes = [statusOf(end, input), ...ofSandbox(end, place), ...leftOver(end)].join("\n");
  return commandResult(notes, output);
}

function statusOf({ code, signal, ended, durationMs, bytes }: CommandEnd, input: Input): string {
  const after = `after ${(durationMs / 1000).toFixed(1)} s`;
  switch (ended) {
    case "time_out":
      return `ended ${after}: it took longer than its ${input.timeout_s} s. Give it more (timeout_s, up to ${MAX_SECONDS}) if it needs them; nothing can run in the background.`;
    case "output_limit":
      return `ended ${after}: it wrote more than ${bytes} bytes.`;
    case "stopped":
      return `ended ${after}: the exchange was stopped.`;
    case null:
      return code === null
        ? `ended by ${signal ?? "the system"} ${after}`
        : `exit code ${code} ${after}`;
  }
}

function ofSandbox({ code, ended, sandbox }: CommandEnd, place: Place): string[] {
  if (sandbox === null) {
    return [];
  }
  const mayLackAccess = code !== 0 && ended === null && sandbox.ended === null;
  const missing = place === "sandbox" ? "no network and " : "";
  return [
    ...(sandbox.ended === null ? [] : [commandNote(sandbox.ended)]),
    ...sandbox.notes.map(commandNote),
    ...(sandbox.missed.length === 0
      ? []
      : [
          `The sandbox hides the home folder, so the command did not see ${sandbox.missed.join(", ")}, if that exists. The user can add it to sandbox.visible in the config of Reprise, if the command needs it.`,
        ]),
    ...(mayLackAccess
      ? [
          `It ran in a sandbox, with ${missing}only this folder to write to. If that is why it failed, call it again with another access; the user is asked.`,
        ]
      : []),
  ];
}

function leftOver({ leftRunning }: CommandEnd): string[] {
  return leftRunning === 0
    ? []
    : [
        `What it left running was ended (${leftRunning} of its processes): nothing can run in the background.`,
      ];
}
