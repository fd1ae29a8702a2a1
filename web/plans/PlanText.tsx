import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { PhaseInfo, PlanInfo } from "../../src/entries/client.ts";
import { Button } from "../parts/Button.tsx";
import { plural } from "./plan-text.ts";

/** So many phases are listed, and so many more on each request. */
const STEP = 300;

/** The plan in words: its waves, and the longest chain. */
export function PlanText({ plan }: { readonly plan: PlanInfo }): JSX.Element {
  const count = useSignal(STEP);
  const { longest_chain: chain, estimated_duration_hours: hours } = plan;
  const waves = firstPhases(plan.waves, count.value);
  const phases = new Map(plan.phases.map((phase) => [phase.key, phase]));
  const inChain = new Set(chain.length > 1 ? chain : []);
  return (
    <>
      <dl class="plan-facts">
        <dt>Run</dt>
        <dd>
          <code>{plan.run_id}</code>
        </dd>
        <dt>Phase</dt>
        <dd>
          <bdi>{plan.phase_key}</bdi>
        </dd>
        {hours === null ? null : (
          <>
            <dt>Estimated</dt>
            <dd>{plural(hours, "hour")}</dd>
          </>
        )}
      </dl>
      <h2>Longest chain, {plural(chain.length, "phase")}</h2>
      <p class="muted">
        It decides how long the plan takes: each phase waits for the one before it.
      </p>
      <ol class="chain">
        {chain.slice(0, count.value).map((key) => (
          <li key={key}>
            <code>{key}</code>
          </li>
        ))}
      </ol>
      <h2>Waves</h2>
      <p class="muted">The phases of one wave can run side by side.</p>
      <ol class="waves">
        {waves.map((shown, index) => (
          <li key={index}>
            <h3>
              Wave {index + 1}{" "}
              <span class="muted">{plural(plan.waves[index]?.length ?? 0, "phase")}</span>
            </h3>
            <ul>
              {shown.map((key) => (
                <PhaseLine key={key} phase={phases.get(key)} strong={inChain.has(key)} />
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {plan.phases.length > count.value ? (
        <Button onClick={() => (count.value += STEP)}>
          Show {Math.min(STEP, plan.phases.length - count.value)} more of{" "}
          {plural(plan.phases.length, "phase")}
        </Button>
      ) : null}
    </>
  );
}

/** The waves up to so many phases; the last one may be cut. */
function firstPhases(waves: PlanInfo["waves"], most: number): (readonly string[])[] {
  const shown: (readonly string[])[] = [];
  let left = most;
  for (const wave of waves) {
    if (left <= 0) {
      break;
    }
    shown.push(wave.slice(0, left));
    left -= wave.length;
  }
  return shown;
}

function PhaseLine(props: {
  readonly phase: PhaseInfo | undefined;
  readonly strong: boolean;
}): JSX.Element | null {
  const { phase, strong } = props;
  if (phase === undefined) {
    return null;
  }
  const { key, title, role, depends_on, expected_artifact: artifact } = phase;
  const before = depends_on.join(", ");
  return (
    <li class={strong ? "phase strong" : "phase"}>
      <div>
        <span class="phase-title" dir="auto">
          {title}
        </span>{" "}
        {strong ? <span class="badge accent">longest chain</span> : null}
      </div>
      <div class="muted">
        <code>{key}</code> · <bdi>{role}</bdi>
        {before === "" ? null : <> · after {before}</>}
        {artifact === null ? null : (
          <>
            {" "}
            · writes <bdi>{artifact.path}</bdi>
          </>
        )}
      </div>
    </li>
  );
}
