import type { Conversation } from "../../../exchange/conversation.ts";
import { workFolder } from "../../../rules/trust/wide-folder.ts";
import { projectOfFolder } from "../../../store/project-id.ts";
import type { Store } from "../../../store/store.ts";
import type { OpenSession } from "../../chat/slash/slash-context.ts";
import { trustSource } from "../../process/config.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import type { SessionSource } from "../../terminal/picker/picker-source.ts";
import type { ChatOptions } from "./chat-options.ts";

/** The session that comes next, and the one to go back to if it cannot be opened. */
export interface NextChat {
  readonly options: ChatOptions;
  readonly before: ChatOptions | null;
}

/** Another session of the same terminal, by the options that are not about the session. */
export async function nextChat(
  { cli, options }: { readonly cli: CliContext; readonly options: ChatOptions },
  { open }: OpenSession,
  conversation: Conversation,
): Promise<NextChat> {
  const given = keptOptions(options);
  const session = conversation.current();
  const before = session === null ? null : { ...given, session: session.id };
  if (session !== null) {
    const id = session.id.slice(0, 8);
    noticeLine(cli, `Session ${id} is kept; /resume ${id} goes back to it.\n`);
  }
  if (open !== null) {
    return { options: { ...given, session: open }, before };
  }
  const folder = options.repo ?? (await folderOfNext(cli, conversation));
  return { options: { ...given, ...(folder === null ? {} : { repo: folder }) }, before };
}

/** Options about the terminal and the run, not about a session. */
function keptOptions(options: ChatOptions): ChatOptions {
  const { agent, plain, trust, wait, takeOver, questions, allow, json } = options;
  const events = options["json=events"];
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(plain === undefined ? {} : { plain }),
    ...(trust === undefined ? {} : { trust }),
    ...(wait === undefined ? {} : { wait }),
    ...(takeOver === undefined ? {} : { takeOver }),
    ...(questions === undefined ? {} : { questions }),
    ...(allow === undefined ? {} : { allow }),
    ...(json === undefined ? {} : { json }),
    ...(events === undefined ? {} : { "json=events": events }),
  };
}

/** The folder of the session before, unless it is the working folder, or one that only a person may name. */
async function folderOfNext(cli: CliContext, conversation: Conversation): Promise<string | null> {
  const { repo_path } = conversation.planned();
  const { limit } = await workFolder(repo_path, trustSource(cli));
  return limit === null && repo_path !== cli.cwd ? repo_path : null;
}

/** The sessions that a person may open next. The one that is open is not deleted. */
export async function sessionsToOpen({
  cli,
  store,
  conversation,
}: {
  readonly cli: CliContext;
  readonly store: Store;
  readonly conversation: Conversation;
}): Promise<SessionSource> {
  const { createPickSource } = await import("../pick-source.ts");
  const here = await projectOfFolder(conversation.planned().repo_path ?? cli.cwd);
  const source = createPickSource({ cli, store, here, home: cli.env["HOME"] });
  return {
    ...source,
    delete: async (id) => {
      if (id === conversation.current()?.id) {
        throw wrongUsage("This session is open here. Leave it first, then delete it.");
      }
      return source.delete(id);
    },
  };
}
