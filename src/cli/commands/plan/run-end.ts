import type { Command } from "commander";

import type { RunDetail } from "../../../core/schemas/plan-run-schemas.ts";
import type { OpenQuestion } from "../../../store/records/questions/read.ts";
import { questionLines, reasonLine } from "../../output/question-lines.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../../process/context.ts";
import { ASKS } from "../../process/exit-code.ts";
import {
  answerCommandLine,
  resumeRunCommand,
  retryRunCommand,
} from "../../process/resume-command.ts";
import { wholeRunLines } from "./run-lines.ts";

/** State in which a run was left. */
export interface RunEnd {
  readonly command: Command;
  readonly end: "done" | "failed" | "stopped" | "interrupted" | "waiting";
  readonly detail: RunDetail;
  /** Questions that it waits for. */
  readonly asked: readonly OpenQuestion[];
  /** How many of them the person has seen, from the first one. */
  readonly shown?: number;
  readonly json: boolean;
  /** True if its events were printed in place of the document. */
  readonly events?: boolean;
  /** True if the caller ran it: then it is continued by a command. */
  readonly isOwn: boolean;
}

/** Shows how a run was left, with the questions that it waits for, and sets the exit code. */
export function showRunEnd(cli: CliContext, run: RunEnd): void {
  const { command, end, detail, asked, shown = 0, json, events = false, isOwn } = run;
  const { session_id } = detail;
  if (json && !events) {
    printJson(cli, detail, 2);
  } else if (!json) {
    printLines(cli, wholeRunLines(cli, detail));
    for (const [index, each] of asked.entries()) {
      const named = asked.length > 1 ? [`question ${each.id}`] : [];
      const lines = [...questionLines(each), ...reasonLine(each)];
      // the beginning says which of several it is
      const begin = named.length === 0 ? 0 : 1;
      printLines(cli, [...named, ...(index < shown ? lines.slice(0, begin) : lines)]);
    }
  }
  if (end === "waiting") {
    const which = asked.length > 1 ? " --question ID" : "";
    noticeLine(cli, `Answer with: ${answerCommandLine(cli, command, session_id)}${which}`);
  }
  if (detail.exchange?.error_code === "phase_failed") {
    const retry = retryRunCommand(cli, command, session_id);
    noticeLine(cli, `Try its failed phases again with: ${retry}`);
  } else if (end !== "done" && (isOwn || end !== "waiting")) {
    const then = isOwn && end === "waiting" ? "Then continue" : "Continue it";
    noticeLine(cli, `${then} with: ${resumeRunCommand(cli, command, session_id)}`);
  }
  cli.exitCode = end === "done" ? 0 : end === "waiting" ? ASKS : 1;
}
