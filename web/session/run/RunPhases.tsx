import type { JSX } from "preact";

import type { RunDetail, RunPhase } from "../../../src/entries/client.ts";
import { Button } from "../../parts/Button.tsx";
import { Link } from "../../parts/Link.tsx";
import { Time } from "../../parts/Time.tsx";
import { plural, tookText } from "../call-text.ts";
import { PhaseWork } from "./PhaseWork.tsx";
import { hasFailed, PHASE_TEXTS, PHASE_TONES, usedTexts } from "./run-text.ts";

interface RunPhasesProps {
  readonly run: RunDetail;
  /** Gives a phase another attempt; null while that cannot be. */
  readonly onRetry: ((key: string) => void) | null;
}

/** The phases in words, in the order of the plan. */
export function RunPhases({ run, onRetry }: RunPhasesProps): JSX.Element {
  return (
    <section aria-labelledby="run-phases">
      <h2 id="run-phases" class="part-title">
        Phases
      </h2>
      <ol class="run-phases">
        {run.phases.map((phase) => (
          <li key={phase.key} class={PHASE_TONES[phase.shown]}>
            <Phase phase={phase} onRetry={onRetry} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Phase(props: {
  readonly phase: RunPhase;
  readonly onRetry: RunPhasesProps["onRetry"];
}): JSX.Element {
  const { phase, onRetry } = props;
  const { key, title, role, shown, session_id, model, depends_on, error } = phase;
  const took = phase.begun_at === null ? null : tookOf(phase);
  const facts = [
    ...(depends_on.length === 0 ? [] : [`after ${depends_on.join(", ")}`]),
    ...(model === null ? [] : [model]),
    ...usedTexts(phase),
    ...(took === null ? [] : [took]),
    ...(phase.files_changed === 0 ? [] : [`${plural(phase.files_changed, "file")} changed`]),
  ];
  return (
    <>
      <div class="run-phase-head">
        <span class="phase-word">{PHASE_TEXTS[shown]}</span>
        {session_id === null ? (
          <bdi class="run-phase-title">{title}</bdi>
        ) : (
          <Link to={`/sessions/${session_id}`} class="run-phase-title">
            <bdi>{title}</bdi>
          </Link>
        )}
        {hasFailed(phase) && onRetry !== null ? (
          <Button aria-label={`Try again: ${key}`} onClick={() => onRetry(key)}>
            Try again
          </Button>
        ) : null}
      </div>
      <div class="muted">
        <code>{key}</code> · <bdi>{role}</bdi>
        {facts.map((fact) => (
          <span key={fact}>
            {" · "}
            <bdi>{fact}</bdi>
          </span>
        ))}
      </div>
      {error === null || shown === "done" ? null : (
        <p class="run-phase-error" dir="auto">
          {error.sentence === "" ? "No reason is known." : error.sentence} <code>{error.code}</code>
        </p>
      )}
      <Artifact phase={phase} />
      <PhaseWork phase={phase} />
      <Approvals phase={phase} />
    </>
  );
}

function Artifact({ phase }: { readonly phase: RunPhase }): JSX.Element | null {
  const { artifact } = phase;
  return artifact === null ? null : (
    <div class="muted">
      {artifact.hash === null ? "Has to hand in" : "Handed in"} <code>{artifact.path}</code>
      {artifact.hash === null ? null : (
        <>
          , SHA-256 <code title={artifact.hash}>{artifact.hash.slice(0, 12)}</code>
        </>
      )}
    </div>
  );
}

function Approvals({ phase }: { readonly phase: RunPhase }): JSX.Element {
  return (
    <>
      {phase.approvals.map(({ attempt, answer, note, at, counts }) => (
        <div key={`${attempt} ${at}`} class="muted" dir="auto">
          {answer === "approve" ? "Approved" : "Refused"} for attempt {attempt} <Time at={at} />
          {note === null ? "" : `: ${note}`}
          {counts ? "" : " (in another database; it does not count here)"}
        </div>
      ))}
    </>
  );
}

function tookOf({ begun_at, ended_at }: RunPhase): string | null {
  return begun_at === null || ended_at === null
    ? null
    : tookText(Date.parse(ended_at) - Date.parse(begun_at));
}
