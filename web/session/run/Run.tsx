import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { ClientError, type RunDetail } from "../../../src/entries/client.ts";
import { isOwner, sending, whoami } from "../../api.ts";
import { adoptStyle } from "../../adopt-style.ts";
import { Button } from "../../parts/Button.tsx";
import { Notice } from "../../parts/Notice.tsx";
import { Time } from "../../parts/Time.tsx";
import { useCall } from "../../parts/use-call.tsx";
import { MayNot } from "../act/Rights.tsx";
import type { SessionModel } from "../model.ts";
import { Report } from "./Report.tsx";
import { RunPhases } from "./RunPhases.tsx";
import { RunPicture } from "./RunPicture.tsx";
import { createRunModel, type RunModel } from "./run-model.ts";
import { hasFailed, runSentence } from "./run-text.ts";
import { style } from "./run.css";

adoptStyle(style);

interface RunProps {
  readonly model: SessionModel;
  /** The session's messages, for who may not see what phases do. */
  readonly children: ComponentChildren;
}

/** A session that runs a plan: its picture, its phases and its report in the place of a conversation. */
export function Run({ model, children }: RunProps): JSX.Element {
  const id = model.session.value?.id ?? model.id;
  const followed = useMemo(() => createRunModel(id), [id]);
  const isGuest = whoami.value?.role === "guest";
  useEffect(() => (isGuest ? undefined : followed.start()), [followed, isGuest]);
  const run = followed.run.value;
  const problem = followed.problem.value;
  if (isGuest) {
    return (
      <>
        <MayNot what="see what the phases of this run do" />
        {children}
      </>
    );
  }
  if (run === null) {
    return problem === null ? (
      <p class="loading">Loading …</p>
    ) : (
      <>
        <Notice kind="problem">{problem.sentence}</Notice>
        {children}
      </>
    );
  }
  return (
    <div class="run">
      <RunState run={run} followed={followed} model={model} />
      <Unread run={run} />
      <Report id={id} />
    </div>
  );
}

interface RunStateProps {
  readonly run: RunDetail;
  readonly followed: RunModel;
  readonly model: SessionModel;
}

/** State of the run and what a person can do about it, with the picture and the phases. */
function RunState({ run, followed, model }: RunStateProps): JSX.Element {
  const calling = useCall();
  const done = run.phases.filter(({ state }) => state === "done").length;
  const state = run.exchange?.state ?? "queued";
  const isBusy = state === "running" || state === "queued";
  const call = (make: () => Promise<unknown>): void =>
    calling.run(async () => {
      try {
        await make();
      } finally {
        await Promise.all([followed.refresh(), model.refresh()]);
      }
    });
  const resume = (retry?: string[]): void =>
    call(() => sending.resumePlanRun(run.session_id, retry === undefined ? {} : { retry }));
  const stop = (n: number): void =>
    call(() => sending.stopExchange(run.session_id, n).catch(unlessEnded));
  const mayAct = isOwner.value && model.session.value?.state !== "ended";
  const failed = run.phases.filter(hasFailed).length;
  const asks = state === "waiting" && model.live.value?.questions.length !== 0;
  const mayRetry = mayAct && !isBusy && !asks;
  return (
    <>
      <div class="run-head">
        <div class="run-progress">
          <strong>
            {done} of {run.phases.length}
          </strong>{" "}
          phases done
          <progress value={done} max={run.phases.length} aria-label="Phases that are done" />
        </div>
        <output class={`run-sentence ${state}`}>{runSentence(run)}</output>
        {/* the element that has the focus after the last answer */}
        {mayAct ? (
          <div class="run-buttons" id="composer" tabIndex={-1}>
            {isBusy && run.exchange !== null ? (
              <Button disabled={calling.isBusy} onClick={() => stop(run.exchange?.n ?? 1)}>
                Stop
              </Button>
            ) : null}
            {mayContinue(run, model) ? (
              <Button kind="primary" disabled={calling.isBusy} onClick={() => resume()}>
                Continue
              </Button>
            ) : null}
            {failed > 0 && mayRetry ? (
              <Button disabled={calling.isBusy} onClick={() => resume([])}>
                {failed === 1 ? "Try the failed phase again" : `Try ${failed} phases again`}
              </Button>
            ) : null}
          </div>
        ) : null}
        {calling.problem}
      </div>
      <RunPicture run={run} />
      <RunPhases run={run} onRetry={mayRetry ? (key) => resume([key]) : null} />
    </>
  );
}

/** True for a run that has something left to do and waits for nobody. */
function mayContinue({ exchange }: RunDetail, model: SessionModel): boolean {
  switch (exchange?.state) {
    case "stopped":
    case "interrupted":
      return true;
    case "waiting":
      return model.live.value?.questions.length === 0;
    case "failed":
      return exchange.error_code !== "phase_failed";
    default:
      return false;
  }
}

/** Messages that somebody stored in the session: a run takes none. */
function Unread({ run }: { readonly run: RunDetail }): JSX.Element | null {
  return run.unread.length === 0 ? null : (
    <section aria-labelledby="run-unread">
      <h2 id="run-unread" class="part-title">
        Messages that no model gets
      </h2>
      <ul class="run-unread">
        {run.unread.map(({ seq, ts, content }) => (
          <li key={seq} dir="auto">
            <span class="muted">
              <Time at={ts} />
            </span>{" "}
            {content}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Ignores an end while the button was pressed: that is what was wanted. */
function unlessEnded(error: unknown): void {
  if (!(error instanceof ClientError && error.code === "exchange_ended")) {
    throw error;
  }
}
