import { RepriseError } from "../../core/errors.ts";
import type { Session } from "../../core/sessions.ts";
import {
  acceptChoices,
  acceptMessages,
  CHOICE_FIELDS,
  type ChoiceField,
  type Choices,
  markSeen,
  readWaiting,
  type Waiting,
  type WaitingMessages,
} from "../../store/records/messages/waiting.ts";
import { localUser } from "../../store/records/leases/local-user.ts";
import type { Store } from "../../store/store.ts";
import { type CliContext, note, noticeLine } from "../process/context.ts";
import { plural } from "../../core/text/text.ts";
import { SETTING_NAMES } from "../output/setting-names.ts";
import { visible } from "../../core/text/terminal-text.ts";
import { localPrincipal } from "../../core/principal.ts";

/** Asks a person; true only for a yes. */
export type Ask = (question: string) => Promise<boolean>;

export interface FromOutsideInput {
  readonly cli: CliContext;
  readonly store: Store;
  /** True for `--accept-pending`: nothing is asked. */
  readonly accept: boolean;
  /** Whether a value that was set over HTTP is what the user would use anyway. */
  readonly isOwn: (session: Session, field: ChoiceField) => Promise<boolean>;
}

export type FromOutside = ReturnType<typeof createFromOutside>;

/** Shows what came over HTTP, and asks to confirm it if its caller was not authenticated. */
export function createFromOutside(input: FromOutsideInput) {
  const { cli, store, accept } = input;
  let ask: Ask | null = null;
  /** Asked about and not accepted: not asked again while the program runs. */
  let declined = 0;

  const isConfirmed = async (question: string): Promise<boolean> =>
    accept || (ask !== null && (await ask(question)));

  const principal = localPrincipal("terminal", localUser());
  const read = ({ id }: Session): Promise<Waiting> => store.read(readWaiting, { session_id: id });

  /** False if a person was asked, or something was stored. */
  const confirmChoices = async (
    session: Session,
    { choices, unseen, through_change }: Waiting,
  ): Promise<boolean> => {
    const shown = await foreignFields(input, session, unseen);
    if (shown.length > 0) {
      note(cli, "This session was set up over HTTP:");
      quoteChoices(cli, shown, unseen);
      await store.write(markSeen, { session_id: session.id, through_change });
    }
    const fields = await foreignFields(input, session, choices);
    if (fields.length === 0) {
      return shown.length === 0;
    }
    noticeLine(cli, "This session was set up over HTTP without authentication:");
    quoteChoices(cli, fields, choices);
    if (!(await isConfirmed("Use this?"))) {
      throw notConfirmed(fields);
    }
    await store.write(acceptChoices, { session_id: session.id, through_change, principal });
    return false;
  };

  /** False if a person was asked, or something was stored. */
  const confirmMessages = async (session: Session, waiting: Waiting): Promise<boolean> => {
    const { count } = waiting.accepted;
    if (count > 0) {
      note(
        cli,
        `${plural(count, "message")} that came over HTTP ${count === 1 ? "goes" : "go"} with this one:`,
      );
      quoteMessages(cli, waiting.accepted);
    }
    for (let { unaccepted } = waiting, isFirst = true; ; isFirst = false) {
      const { count, messages } = unaccepted;
      const last = messages.at(-1)?.seq ?? 0;
      if (count === 0 || last <= declined) {
        return isFirst;
      }
      if (accept || ask !== null) {
        noticeLine(cli, `${plural(count, "message")} came over HTTP without authentication:`);
        quoteMessages(cli, unaccepted);
      }
      if (!(await isConfirmed(`Hand ${count === 1 ? "it" : "them"} to the agent?`))) {
        declined = last;
        note(cli, leftPending(count, session.id));
        return false;
      }
      await store.write(acceptMessages, { session_id: session.id, through_seq: last, principal });
      // others may have come while the person was asked
      ({ unaccepted } = await read(session));
    }
  };

  return {
    /** Without a person to ask, only `--accept-pending` confirms. */
    askWith: (how: Ask): void => {
      ask = how;
    },
    confirmChoices: async (session: Session): Promise<void> => {
      await confirmChoices(session, await read(session));
    },
    confirmWaiting: async (session: Session, waiting: Waiting): Promise<boolean> => {
      const isCurrent = await confirmChoices(session, waiting);
      const current = isCurrent ? waiting : await read(session);
      return (await confirmMessages(session, current)) && isCurrent;
    },
  };
}

async function foreignFields(
  { isOwn }: FromOutsideInput,
  session: Session,
  choices: Choices,
): Promise<ChoiceField[]> {
  const fields: ChoiceField[] = [];
  for (const field of CHOICE_FIELDS) {
    if (choices[field] !== undefined && !(await isOwn(session, field))) {
      fields.push(field);
    }
  }
  return fields;
}

function notConfirmed(fields: readonly ChoiceField[]): RepriseError {
  const names = fields.map((field) => SETTING_NAMES[field]).join(", ");
  const instead = fields.includes("repo_path")
    ? "begin a new session"
    : "choose your own with --model and --persona";
  return new RepriseError(
    "not_confirmed",
    `The session's ${names} came over HTTP without authentication and was not confirmed, so nothing was sent; accept it with --accept-pending, or ${instead}.`,
  );
}

function quoteChoices(cli: CliContext, fields: readonly ChoiceField[], choices: Choices): void {
  for (const field of fields) {
    printQuoted(cli, `${SETTING_NAMES[field]}: ${choices[field] ?? ""}`);
  }
}

function leftPending(count: number, id: string): string {
  const stay = count === 1 ? "stays" : "stay";
  return `${plural(count, "message")} that came over HTTP without authentication ${stay} pending; \`reprise sessions show ${id}\` shows all, --accept-pending accepts them.`;
}

function quoteMessages(cli: CliContext, { messages: shown, count }: WaitingMessages): void {
  for (const { seq, ts, beginning, length } of shown) {
    noticeLine(cli, `[${seq}] ${ts}`);
    printQuoted(cli, beginning);
    const rest = length - Array.from(beginning).length;
    if (rest > 0) {
      noticeLine(cli, `  … ${rest} more characters`);
    }
  }
  if (count > shown.length) {
    noticeLine(cli, `  … ${plural(count - shown.length, "more message")}`);
  }
}

/** A bar before each line, so that no text can pass for one of the program's. */
function printQuoted(cli: CliContext, text: string): void {
  for (const line of visible(text).split("\n")) {
    noticeLine(cli, `│ ${line}`);
  }
}
