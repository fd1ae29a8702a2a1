import type { ComponentChildren, CSSProperties, JSX } from "preact";

import type { PlanInfo, RunDetail, RunPhase } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { Link } from "../../parts/Link.tsx";
import { useRead } from "../../parts/use-call.tsx";
import { Picture } from "../../plans/Picture.tsx";
import { PHASE_TEXTS, PHASE_TONES, usedTexts } from "./run-text.ts";

/** The least scale at which the words in a box can be read. */
const LEAST_SCALE = 0.8;
/** Pixels below the lowest box of a picture. */
const FOOT = 64;

/** The plan as a picture, over which each phase shows its state and leads to its session. */
export function RunPicture({ run }: { readonly run: RunDetail }): JSX.Element | null {
  const { value: plan, problem } = useRead<PlanInfo | null>(
    async () => (await client.describePlan(JSON.stringify(run.plan), { syntax: "json" })).plan,
    null,
    [run.session_id],
  );
  if (plan === null) {
    return problem;
  }
  const phases = new Map(run.phases.map((phase) => [phase.key, phase]));
  const height = plan.boxes.reduce((most, box) => Math.max(most, box.y + box.height), 0) + FOOT;
  return (
    <div class="run-picture" style={{ "--picture-height": `${height}px` }}>
      <Picture plan={plan} leastScale={LEAST_SCALE}>
        {plan.boxes.map((box) => {
          const phase = phases.get(box.key);
          return phase === undefined ? null : <Node key={box.key} box={box} phase={phase} />;
        })}
      </Picture>
    </div>
  );
}

type Box = PlanInfo["boxes"][number];

function Node(props: { readonly box: Box; readonly phase: RunPhase }): JSX.Element {
  const { box, phase } = props;
  const { key, title, role, shown } = phase;
  const { x, y, width, height } = box;
  const size = { "--x": x, "--y": y, "--width": width, "--height": height } as CSSProperties;
  return (
    <div class={`phase-box ${PHASE_TONES[shown]}`} style={size}>
      <Session phase={phase}>
        <span class="phase-box-title" dir="auto">
          {title}
        </span>
        <span class="phase-box-who">
          {key} · <bdi>{role}</bdi>
        </span>
        <span class="phase-box-state">
          <span class="phase-word">{PHASE_TEXTS[shown]}</span> {usedTexts(phase).join(" · ")}
        </span>
      </Session>
    </div>
  );
}

function Session(props: {
  readonly phase: RunPhase;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { phase, children } = props;
  return phase.session_id === null ? (
    <div class="phase-box-inner">{children}</div>
  ) : (
    <Link to={`/sessions/${phase.session_id}`} class="phase-box-inner">
      {children}
    </Link>
  );
}
