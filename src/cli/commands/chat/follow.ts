import type { Writable } from "node:stream";

import { Command } from "commander";

import { isRepriseError, RepriseError } from "../../../core/errors.ts";
import type { Session } from "../../../core/sessions.ts";
import { titleLine } from "../../../core/text/terminal-text.ts";
import { followSession } from "../../../exchange/live/follow-session.ts";
import { readRunPhases } from "../../../plans/run-detail.ts";
import { readMessagesAfter } from "../../../store/records/messages/read.ts";
import { readSession, resolveSession } from "../../../store/records/sessions/read.ts";
import type { Store } from "../../../store/store.ts";
import { localTime } from "../../output/ages.ts";
import { EVENTS_OPTION } from "./chat-options.ts";
import { type CliContext, noticeLine, noticeNow } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { createLiveScreen } from "../../lines/live-screen.ts";
import { answerCommandLine } from "../../process/resume-command.ts";
import { onSignals } from "../../process/signals.ts";
import { wholeNumber } from "../../process/wrong-usage.ts";

const DEFAULT_TAIL = 10;
const MAX_TAIL = 1000;
/** Messages that are read at once. */
const ROWS = 20;

interface FollowOptions {
  readonly tail: number;
  readonly "json=events"?: true;
}

/** `follow <id>`: shows what happens in a session now, whichever process runs its exchanges. */
export function followCommand(cli: CliContext): Command {
  const command = new Command("follow")
    .description("show what happens in a session now, whichever process runs it, until Ctrl-C")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option(
      "--tail <n>",
      "show the last n messages first",
      wholeNumber("--tail", 0, MAX_TAIL),
      DEFAULT_TAIL,
    )
    .option(EVENTS_OPTION, "print one line of JSON for each event of the live feed")
    .action(async (reference: string, options: FollowOptions) => {
      await using store = await openDatabase(cli, command);
      const session = await store.read(resolveSession, { reference });
      const stop = new AbortController();
      // a second signal ends the program in the system's own way
      const stopListening = onSignals(cli, () => {
        stop.abort();
        stopListening();
      });
      const following = { cli, store, session, tail: options.tail, signal: stop.signal };
      try {
        await (options["json=events"] === true
          ? followEvents(following)
          : followText(following, answerCommandLine(cli, command, session.id)));
      } finally {
        stopListening();
      }
    });
  return withStore(command);
}

interface Following {
  readonly cli: CliContext;
  readonly store: Store;
  readonly session: Session;
  readonly tail: number;
  readonly signal: AbortSignal;
}

async function followEvents(following: Following): Promise<void> {
  const output = following.cli.stdout.sink("json");
  for await (const event of eventsAfter(following, firstSeq(following))) {
    await written(output, `${JSON.stringify(event)}\n`);
  }
  await refuseDeleted(following);
}

async function followText(following: Following, answer: string): Promise<void> {
  const { cli, store, session, tail, signal } = following;
  const output = cli.stdout.sink("text");
  const { showMessage, show } = createLiveScreen({
    showsText: cli.stdout.isTTY,
    answerWith: [`Answer with: ${answer}`],
    ...(cli.stdout.isTTY ? { time: (iso: string) => localTime(iso, "second") } : {}),
  });
  noticeLine(cli, `Session ${session.id} · ${titleLine(session)} · Ctrl-C ends this command.`);
  let after_seq = firstSeq(following);
  const through = after_seq + Math.min(tail, session.last_seq);
  while (after_seq < through && !signal.aborted) {
    const page = { session_id: session.id, after_seq, all: false, limit: ROWS };
    const messages = await store.read(readMessagesAfter, page);
    for (const message of messages) {
      await written(output, showMessage(message));
    }
    const last = messages.at(-1)?.seq ?? through;
    // archived messages are left out, and later ones are not
    after_seq = messages.length < ROWS ? Math.max(through, last) : last;
  }
  for await (const event of eventsAfter(following, after_seq)) {
    await written(output, show(event));
  }
  await refuseDeleted(following);
  if (!signal.aborted) {
    noticeLine(cli, `Session ${session.id} has ended.`);
  }
}

/** The last message that is not shown. */
function firstSeq({ session, tail }: Following): number {
  return Math.max(0, session.last_seq - tail);
}

function eventsAfter({ cli, store, session, signal }: Following, after_seq: number) {
  const onFailure = (): void =>
    noticeNow(cli, "note: The database cannot be read now; trying again.");
  const place = { session_id: session.id, after_seq, all: false, signal };
  return followSession(store, { ...place, readPhases: readRunPhases, onFailure });
}

/** The feed ends if the session has ended or was deleted. Error codes: `session_not_found`. */
async function refuseDeleted({ store, session, signal }: Following): Promise<void> {
  try {
    await (signal.aborted ? null : store.read(readSession, session));
  } catch (error) {
    if (isRepriseError(error, "session_not_found")) {
      throw new RepriseError("session_not_found", "The session was deleted.");
    }
    throw error;
  }
}

/** Resolves once the output has taken the text: a pager may read slower than an agent writes. */
function written(output: Writable, text: string): Promise<void> {
  return text === ""
    ? Promise.resolve()
    : new Promise((resolve) => output.write(text, () => resolve()));
}
