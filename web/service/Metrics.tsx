import type { JSX } from "preact";

import { Notice } from "../parts/Notice.tsx";
import { durationText, type Measure, MEASURES } from "./measures.ts";
import { beforeOf } from "./samples.ts";
import { samples } from "./watch.ts";
import { pathOf } from "./small-line.ts";

/** What the service counts, in plain sight. */
export function Metrics(): JSX.Element {
  const { value, problem } = samples.value;
  const first = value?.[0]?.at ?? 0;
  const last = value?.at(-1)?.at ?? 0;
  return (
    <section aria-labelledby="service-metrics">
      <h2 id="service-metrics">Numbers</h2>
      {problem === null ? null : <Notice kind="warning">{problem}</Notice>}
      <p class="muted">
        {value === null
          ? "Reading …"
          : `Of the process that answers here. The lines show the last ${durationText(Math.max(5, (last - first) / 1000))}, as far as this tab was open.`}
      </p>
      <dl class="measures">
        {MEASURES.map((measure) => (
          <Tile key={measure.title} measure={measure} />
        ))}
      </dl>
    </section>
  );
}

const SIZE = { width: 140, height: 28 };

function Tile({ measure }: { readonly measure: Measure }): JSX.Element | null {
  const all = samples.value.value ?? [];
  const values = all.map((sample, index) => measure.of(sample, beforeOf(all, index)));
  const known = values.findLast((value) => value !== null) ?? null;
  return (
    <div class="measure">
      <dt>{measure.title}</dt>
      <dd>
        <span class="measure-value">{known === null ? "–" : measure.text(known)}</span>
        <svg
          viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
          width={SIZE.width}
          height={SIZE.height}
          aria-hidden="true"
          focusable="false"
        >
          <path d={pathOf(values, SIZE)} />
        </svg>
        <span class="measure-meaning">{measure.meaning}</span>
      </dd>
    </div>
  );
}
