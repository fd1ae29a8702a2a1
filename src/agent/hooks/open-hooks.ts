import { homedir } from "node:os";

import { type CommandOptions, type Commands, createCommands } from "../commands/commands.ts";
import type { KnownFiles } from "../known-files.ts";
import type { Conceal } from "../../core/secrets.ts";
import type { Hook } from "../../rules/hooks/hook.ts";
import type { Judge, RunPermission } from "../../rules/permissions/judge.ts";
import type { SandboxLimits } from "../../workspace/sandbox/policy.ts";
import type { KeptBytes } from "../../workspace/undo/kept-bytes.ts";
import type { Store } from "../../store/store.ts";
import { createLinkSearch } from "../../workspace/files/control-links.ts";
import { createControlSearch } from "../../workspace/places/found-control.ts";
import { createCommandRecorder } from "../../workspace/undo/commands/record-command.ts";
import type { Session } from "../../core/sessions.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import { resolveSandbox } from "../../rules/paths/sandbox.ts";
import { ExchangeHooks } from "./exchange-hooks.ts";
import { HookRunner } from "./hook-runner.ts";

/** Bytes that one hook may print. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Names of our modes in Claude Code: "Permission modes" of its documentation. */
const MODES: Readonly<Record<PermissionMode, string>> = {
  ask: "default",
  plan: "plan",
  edits: "acceptEdits",
  auto: "auto",
  all: "bypassPermissions",
};

/** The hooks of a session, for an exchange or its end. */
export interface OpenedHooks {
  readonly hooks: ExchangeHooks;
  readonly runner: HookRunner;
  readonly commands: Commands;
}

/** For whom hooks are opened. */
export interface HookedSession {
  readonly session: Pick<Session, "id">;
  readonly known: KnownFiles;
  /** Gets sentences for a person. */
  readonly onNotice: (sentence: string) => void;
  /** As of `ExchangeContext.prefixMark`. */
  readonly mark: string | null;
  /** The number of the exchange. */
  readonly n: () => number;
  readonly options: {
    readonly store: Store;
    readonly kept: KeptBytes | null;
    readonly protectedPaths: readonly string[];
    readonly permission?: RunPermission | undefined;
    readonly commands: CommandOptions;
  };
  /** As of `Prepared`. */
  readonly prepared: {
    readonly configuredHooks: readonly Hook[];
    readonly folder: string | null;
    readonly root: string | null;
    readonly judge: Judge;
    readonly conceal: Conceal;
    readonly environment: readonly string[];
    readonly visible: readonly string[];
    readonly sandboxLimits: SandboxLimits;
  };
}

/** Starts nothing. */
export function openHooks({
  options,
  prepared,
  known,
  onNotice,
  mark,
  session,
  n,
}: HookedSession): OpenedHooks {
  const { folder, root, conceal, judge } = prepared;
  const commands = createCommands(
    {
      ...options.commands,
      outputFolder: null,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      environment: prepared.environment,
      visible: prepared.visible,
      limits: prepared.sandboxLimits,
    },
    { session_id: session.id, conceal },
  );
  const [linked, found] = [
    createLinkSearch(),
    createControlSearch({ home: homedir(), env: options.commands.env }),
  ];
  const sandbox =
    folder === null
      ? null
      : () =>
          resolveSandbox({
            repoPath: folder,
            root,
            protectedPaths: options.protectedPaths,
            configured: judge.protected,
            linked,
            found,
          });
  const cwd = root ?? homedir();
  const runner = new HookRunner({
    hooks: prepared.configuredHooks,
    session_id: session.id,
    cwd,
    commands,
    sandbox,
    permissionMode: async () => MODES[(await (await judge.chosen()).stored()).mode],
    conceal,
    onNotice,
  });
  const hooks = new ExchangeHooks({
    runner,
    cwd,
    sandbox,
    record: createCommandRecorder({
      store: options.store,
      session_id: session.id,
      n,
      kept: options.kept,
    }),
    known,
    mark,
    onDenied: options.permission?.onDenied,
    onNotice,
  });
  return { hooks, runner, commands };
}
