import { Command } from "commander";

import type { PermissionMode } from "../../core/permissions.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import type { ExchangerConfig } from "../../exchange/exchanger.ts";
import type { CallPlace } from "../../rules/permissions/explain.ts";
import { DEFAULT_PERSONA } from "../../rules/personas/persona.ts";
import { resolveSession } from "../../store/records/sessions/read.ts";
import type { Store } from "../../store/store.ts";
import { addList } from "../output/add-list.ts";
import { configPlace, databaseLocation, exchangerConfig } from "../process/config.ts";
import { type CliContext, printJson, printLine, printLines } from "../process/context.ts";
import { databaseOption, openDatabase, withStore } from "../process/database.ts";
import { decisionLine, hookLines, permissionLines } from "../output/permission-lines.ts";
import { addAllowed, permissionMode } from "./permission-options.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

const OF_SESSION = "of this session, by its id or the first 6 or more characters of it";

/** `permission list|remove|explain`: the rules that decide what is asked before a tool takes effect. */
export function permissionCommand(cli: CliContext): Command {
  const permission = new Command("permission").description(
    "show the rules that decide what is asked, take one back, explain a call",
  );
  const list = addList(permission, {
    list: "show the mode, and the rules that were added: of a new session in this folder, or of one that is there",
    json: "print a JSON object: the mode and an array of effect, rule and layer, with every rule",
  })
    .argument("[id]", OF_SESSION)
    .option("--all", "also the rules of the program and of the mode, with every protected path")
    .action((id: string | undefined, { json, all }: { json?: true; all?: true }) =>
      withPlace(cli, list, id, async (config, place) => {
        const { readJudgement } = await import("../../rules/permissions/explain.ts");
        const judgement = await readJudgement(config, place);
        if (json === true) {
          const { allRules } = await import("../../rules/permissions/list-rules.ts");
          printJson(cli, { mode: judgement.mode, rules: allRules(judgement) });
        } else {
          const forAll = all === true ? null : "--all";
          printLines(cli, await permissionLines(judgement, { forAll }));
        }
      }),
    );
  const remove = permission
    .command("remove")
    .description("take back what was allowed in a session or in your config")
    .argument("<id>", `${OF_SESSION}; config for your config, as far as it counts in this folder`)
    .argument("<rule>", "as `permission list` prints it")
    .action((id: string, rule: string) =>
      id === "config"
        ? removeConfigured(cli, rule)
        : withPlace(cli, remove, id, async ({ store }, { session }) => {
            const { removeRule } = await import("../../store/records/sessions/permissions.ts");
            if (session === null || !(await store.write(removeRule, { id: session.id, rule }))) {
              throw wrongUsage(
                "Nobody allowed this rule in the session; `reprise permission list <id>` shows those.",
              );
            }
            printLine(cli, `removed  ${oneLine(rule)}`);
          }),
    );
  const explain = permission
    .command("explain")
    .description("say what would be decided about a call, and by which rule")
    .argument("<call>", "such as 'write_file(src/main.ts)' or 'run_command(npm test)'")
    .option("--session <id>", OF_SESSION)
    .option(
      "--allow <rule>",
      "as the conversation would be started with; may be repeated",
      addAllowed,
    )
    .option("--no-questions", "as the conversation would be started with")
    .option("--permission <mode>", "as a new conversation would be started with", permissionMode)
    .option(
      "--json",
      "print a JSON object: effect, rule, layer and reason; with hooks, their lines",
    )
    .action((call: string, options: ExplainOptions) =>
      withPlace(cli, explain, options.session, async (config, of) => {
        const place = { ...of, mode: modeFor(options) };
        const [{ explainCall, explainHooks }, { hookLine }] = await Promise.all([
          import("../../rules/permissions/explain.ts"),
          import("../../rules/hooks/hook.ts"),
        ]);
        const { allow = [], questions: asks } = options;
        const given = { ...config, permission: { allow, asks } };
        const decision = await explainCall(given, place, call);
        const hooks = await explainHooks(config, place, call);
        if (options.json === true) {
          const lines = hooks.map(hookLine);
          printJson(cli, { ...decision, ...(hooks.length === 0 ? {} : { hooks: lines }) });
        } else {
          printLine(cli, decisionLine(decision));
          printLines(cli, await hookLines(hooks));
        }
      }),
    );
  for (const command of [list, remove, explain]) {
    withStore(command);
  }
  return permission;
}

/** The options of `permission explain`, as commander reads them. */
interface ExplainOptions {
  readonly session?: string;
  readonly allow?: readonly string[];
  /** False with --no-questions. */
  readonly questions: boolean;
  readonly permission?: PermissionMode;
  readonly json?: true;
}

/** Null for that of the session or the config. Error codes: `invalid_usage`. */
function modeFor({ session, permission }: ExplainOptions): PermissionMode | null {
  if (session !== undefined && permission !== undefined) {
    throw wrongUsage("The session has its mode. Use either --session or --permission, not both.");
  }
  return permission ?? null;
}

/** Error codes: `invalid_usage`, `config_invalid`. */
async function removeConfigured(cli: CliContext, rule: string): Promise<void> {
  const { removeFromConfig } = await import("../../rules/config/set-value.ts");
  const given = { rule, folder: cli.cwd };
  if (!(await removeFromConfig(configPlace(cli), given))) {
    throw wrongUsage(
      "Your config has no such rule for this folder; `reprise permission list` shows those.",
    );
  }
  printLine(cli, `removed  ${oneLine(rule)}`);
}

async function withPlace(
  cli: CliContext,
  command: Command,
  reference: string | undefined,
  act: (config: ExchangerConfig & { readonly store: Store }, place: CallPlace) => Promise<void>,
): Promise<void> {
  await using store = await openDatabase(cli, command);
  const session = reference === undefined ? null : await store.read(resolveSession, { reference });
  const location = databaseLocation(cli, databaseOption(command));
  const config = exchangerConfig(cli, store, { location });
  const repo_path = session === null ? cli.cwd : session.repo_path;
  const persona = session === null ? (await config.settings?.at(repo_path))?.persona : null;
  await act(config, {
    session,
    repo_path,
    persona_name: session?.persona_name ?? persona ?? DEFAULT_PERSONA,
    mode: null,
  });
}
