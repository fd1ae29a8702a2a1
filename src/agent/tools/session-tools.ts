import { homedir } from "node:os";

import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";

import type { Tool } from "../../core/tools.ts";
import type { ProtectedPath } from "../../rules/config/user-config.ts";
import { resolveSandbox, type Sandbox } from "../../rules/paths/sandbox.ts";
import {
  EDIT_FILE,
  FIND_FILES,
  LIST_FILES,
  READ_FILE,
  SEARCH_FILES,
  WRITE_FILE,
} from "../../rules/tools/built-in.ts";
import type { Skill } from "../../rules/skills/skill.ts";
import { createLinkSearch } from "../../workspace/files/control-links.ts";
import { denial } from "../../workspace/files/refusal.ts";
import type { GitUser } from "../../workspace/places/ask-git.ts";
import { createControlSearch } from "../../workspace/places/found-control.ts";
import { editTextFile } from "./edit-file.ts";
import { GIT_COMMIT_FORM, gitCommitTool } from "./git-commit.ts";
import { findFiles, listFolder } from "./list-files.ts";
import { MAX_LINES, readLines, readTextFile } from "./read-file.ts";
import { type CommandTool, RUN_COMMAND_FORM, runCommandTool } from "./run-command.ts";
import { readSkillFile } from "./read-skill-file.ts";
import { searchFiles } from "./search-files.ts";
import type { KeepChanges } from "../../workspace/undo/keeper.ts";
import { KnownFiles } from "../known-files.ts";
import { asksFirst, beginCall, permittingItself } from "../permit/tool-asking.ts";
import type { Spool } from "../commands/spool.ts";
import type { Permit, PermitChange } from "../permit/permit.ts";
import type { PermitFiles } from "../permit/permit-files.ts";
import { reportFiles } from "./call-files.ts";
import { STEP_TOOLS } from "./step-tools.ts";
import { createQueue, reportFailure } from "./tool-result.ts";
import { type FileCall, writeTextFile } from "./write-file.ts";

/**
 * The tools of a session: its repository's files, read, listed, searched, written and edited, and
 * commands; none without a repository. Nothing outside the
 * repository and none of `protectedPaths` can be reached. A tool that fails answers with a
 * sentence for the model that begins with `Error:`; it never throws. Changes are made one at a
 * time, however many calls come together.
 *
 * Ours on plain files, because deepagents' FilesystemBackend, measured at 1.14.1, lists files
 * outside its root for `glob("../**")`, rewrites every byte that is not UTF-8 in an edit, holds
 * whole files in memory, cannot protect paths, and its middleware moves large results into files
 * in the repository.
 */
export function sessionTools(
  input: Omit<Guards, "known"> & {
    /** The files as the model knows them; without it, none. */
    readonly known?: KnownFiles | undefined;
    readonly repoPath: string | null;
    /** As of `SandboxFolder`. */
    readonly root?: string | null | undefined;
    readonly protectedPaths: readonly string[];
    /** What the configuration protects besides. */
    readonly configured?: readonly ProtectedPath[] | undefined;
    /** Whose configuration of git names files that ask. */
    readonly gitUser?: GitUser;
    /** Called when a fixed limit denies a call. */
    readonly onDenied?: (() => void) | undefined;
    /** Null if no command may run in the folder; without it the session has no tools for commands. */
    readonly commands?: GivenCommands | null | undefined;
    /** Skills whose files can be read although they are not in the folder. */
    readonly skills?: readonly Skill[];
  },
): StructuredToolInterface[] {
  const { repoPath, root, protectedPaths, configured = [], permit, commands, skills = [] } = input;
  const { gitUser = { home: homedir(), env: {} } } = input;
  if (repoPath === null) {
    return [];
  }
  const [linked, found] = [createLinkSearch(), createControlSearch(gitUser)];
  const { onDenied } = input;
  const folder = { repoPath, root, protectedPaths, configured, linked, found, onDenied };
  const guards = { ...input, known: input.known ?? new KnownFiles() };
  const run: Run = async (work) => work(await resolveSandbox(folder));
  const inOrder = createQueue();
  const runInOrder: Run = (work) => inOrder(() => run(work));
  const spool = commands?.commands.spool ?? null;
  return [
    readFileTool(spool, skills)(run, guards),
    ...READERS.map((open) => open(run, guards)),
    ...WRITERS.map((open) => open(runInOrder, guards)).map(asksFirst),
    ...STEP_TOOLS.map((open) => open(runInOrder, guards)).map(asksFirst),
    ...commandTools(commands, { run: runInOrder, permit, onDenied }),
  ].map(permittingItself);
}

type GivenCommands = Pick<CommandTool, "commands" | "record" | "onOutput">;

function commandTools(
  commands: GivenCommands | null | undefined,
  {
    onDenied,
    ...context
  }: Pick<CommandTool, "run" | "permit"> & { readonly onDenied: (() => void) | undefined },
): StructuredToolInterface[] {
  if (commands === undefined) {
    return [];
  }
  if (commands !== null) {
    return [runCommandTool, gitCommitTool].map((open) => open({ ...context, ...commands }));
  }
  const refuse = async (): Promise<never> => {
    onDenied?.();
    throw denial("the user has not allowed commands in this folder, or none may run there");
  };
  return [
    asksFirst(tool(reportFailure(refuse), RUN_COMMAND_FORM)),
    asksFirst(tool(reportFailure(refuse), GIT_COMMIT_FORM)),
  ];
}

/** What a tool's effect needs. */
interface Guards {
  /** Called before a tool takes effect, and before it reads. */
  readonly permit: Permit;
  /** The same for tools that change several files. */
  readonly permitFiles: PermitFiles;
  /** Makes its changes. */
  readonly keep: KeepChanges;
  /** The files as the model knows them. */
  readonly known: KnownFiles;
}

/** Gives a tool's work its sandbox. */
type Run = <Output>(work: (sandbox: Sandbox) => Promise<Output>) => Promise<Output>;

const PATH = z.string();
const FOLDER = PATH.default(".");

const READ_FILE_SCHEMA = z.object({
  path: PATH,
  offset: z.int().min(1).default(1).describe("first line"),
  limit: z.int().min(1).max(MAX_LINES).default(MAX_LINES).describe("lines"),
});

/** Reads the whole output of a command, and files of skills, too. */
const readFileTool = (spool: Spool | null, skills: readonly Skill[]) =>
  define({
    declared: READ_FILE,
    description: `Read a text file, up to ${MAX_LINES} numbered lines at a time.`,
    schema: READ_FILE_SCHEMA,
    act: async (sandbox, input, call) => {
      await using output = (await spool?.open(input.path)) ?? null;
      if (output !== null) {
        return await readLines(output, input);
      }
      return (
        (await readSkillFile(skills, input, call)) ?? (await readTextFile(sandbox, input, call))
      );
    },
  });

const READERS = [
  define({
    declared: LIST_FILES,
    description: "List a folder.",
    schema: z.object({ path: FOLDER }),
    act: (sandbox, input, { permit }) => listFolder(sandbox, input, permit),
  }),
  define({
    declared: FIND_FILES,
    description: "Find files by a glob such as src/**/*.ts.",
    schema: z.object({ pattern: z.string(), path: FOLDER }),
    act: (sandbox, input, { permit }) => findFiles(sandbox, input, permit),
  }),
  define({
    declared: SEARCH_FILES,
    description: "Find the lines that contain a text (not a pattern).",
    schema: z.object({
      text: z.string(),
      path: FOLDER,
      files: z.string().default("**").describe("glob of the files to search"),
      ignore_case: z.boolean().default(false),
    }),
    act: (sandbox, input, { permit }) => searchFiles(sandbox, input, permit),
  }),
];

const WRITERS = [
  define({
    declared: WRITE_FILE,
    description:
      "Create a file, or replace all of one that you have read and that has not changed since.",
    schema: z.object({ path: PATH, content: z.string() }),
    act: writeTextFile,
  }),
  define({
    declared: EDIT_FILE,
    description: "Replace a text that occurs exactly once in a file that you have read.",
    schema: z.object({
      path: PATH,
      old_text: z.string().describe("exactly as in the file, without line numbers"),
      new_text: z.string(),
      replace_all: z.boolean().default(false),
    }),
    act: editTextFile,
  }),
];

function define<Schema extends z.ZodObject>(entry: {
  readonly declared: Tool;
  readonly description: string;
  readonly schema: Schema;
  readonly act: (sandbox: Sandbox, input: z.output<Schema>, call: FileCall) => Promise<string>;
}) {
  const { declared, act, ...fields } = entry;
  return (run: Run, { permit, keep, known }: Guards): StructuredToolInterface =>
    tool(
      reportFiles(known, (input: z.output<Schema>, config, files) => {
        const permitted: PermitChange = async ({ file }, change, judgedAs = declared) => {
          await permit(config, { tool: judgedAs, file, command: null }, change);
          await beginCall(config);
          return files.through(keep, { call_id: config.toolCall?.id ?? "", tool: declared.name });
        };
        return run((sandbox) => act(sandbox, input, { permit: permitted, files }));
      }),
      { ...fields, name: declared.name },
    );
}
