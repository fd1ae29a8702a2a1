import { setTimeout as sleep } from "node:timers/promises";

import type { Command } from "commander";

import { isFinal } from "../../../core/exchanges.ts";
import { exactLine } from "../../../core/text/terminal-text.ts";
import { whetherRuns } from "../../../exchange/runnable.ts";
import type { RunDetail } from "../../../core/schemas/plan-run-schemas.ts";
import { readRunDetail } from "../../../plans/run-detail.ts";
import { listOpenQuestions } from "../../../store/records/questions/read.ts";
import type { Store } from "../../../store/store.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { databaseWords, resumeRunCommand } from "../../process/resume-command.ts";
import { phaseView } from "./phase-view.ts";
import { showRunEnd } from "./run-end.ts";

/** Time between two reads of the run. */
const POLL_MS = 500;

interface Watched {
  readonly command: Command;
  readonly session_id: string;
  readonly json: boolean;
}

/**
 * Follows a run from the store until it has ended or only people can help, whichever process runs it. The exit code is as of
 * `plan run`.
 */
export async function watchRun(cli: CliContext, store: Store, watched: Watched): Promise<void> {
  const { command, session_id, json } = watched;
  const view = json ? null : phaseView(cli);
  const noticed = new Set<string>();
  let detail: RunDetail;
  for (;;) {
    detail = await store.read(readRunDetail, { reference: session_id });
    const { exchange, state } = detail;
    if (exchange === null || isFinal(state) || state === "waiting") {
      break;
    }
    view?.show(detail);
    if (state !== "running" && !noticed.has(state)) {
      noticed.add(state);
      await noticeIdle(cli, store, { command, detail });
    }
    await sleep(POLL_MS);
  }
  view?.end();
  const { state } = detail;
  const asked =
    state === "waiting" ? await store.read(listOpenQuestions, { reference: session_id }) : [];
  const end = state === "queued" || state === "running" ? "interrupted" : state;
  showRunEnd(cli, { command, end, detail, asked, json, isOwn: false });
}

/** Says how a run is continued that no process runs. */
async function noticeIdle(
  cli: CliContext,
  store: Store,
  { command, detail }: { readonly command: Command; readonly detail: RunDetail },
): Promise<void> {
  const { session_id, state } = detail;
  if (state === "queued") {
    const { command: start } = await whetherRuns(store, { session_id, state }, { besides: false });
    if (start !== null) {
      const service = exactLine(`${start}${databaseWords(cli, command)}`);
      noticeLine(cli, `No running service takes the run. Start one with: ${service}`);
    }
  } else {
    const resume = resumeRunCommand(cli, command, session_id);
    noticeLine(
      cli,
      `The process of the run has ended. A service continues what it began; else use: ${resume}`,
    );
  }
}
